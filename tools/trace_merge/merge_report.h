// The report of a merge: the JSON of --report, and the tables of --dry-run.
#pragma once

#include "merge/merger.h"
#include "trace_merge/recover_inputs.h"

#include <string>
#include <vector>

namespace traceloom {

// {"schema_version": 1, "output", "origin_unix_ns", "ranks": [{"rank", "evidence",
//  "files": [{"path", "events", "method", "offset_ns", "error_ns", "worst_error_ns", "drift_ppm"}],
//  "events_in", "events_out"}],
//  "problems": [{"file", "kind", "count", "first_offset", "detail" if there is one}],
//  "left_out": [{"path", "error"}]}
//
// With a filter, files also have "filtered" and ranks "events_filtered": how many events were
// dropped. An input that is a merge is listed under each of its ranks, with the events of that
// rank, or null if they are not known rank by rank. A dry run has the numbers that the merge would
// have, and the problems that are found before anything is written. `drift_ppm` is null if clocks
// are assumed to run at one speed. A journal that --recover could not use is a problem of the kind
// journal_kept.
std::string merge_report(const MergeSummary& summary, const std::string& output,
                         const std::vector<KeptJournal>& kept_journals = {});

// Returns the plan as text for people: a table of the files and one of the ranks.
std::string describe_plan(const MergeSummary& summary, bool colour, int width);

}  // namespace traceloom
