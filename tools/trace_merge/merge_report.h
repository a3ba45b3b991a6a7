// What a merge says of itself: the JSON of --report, and the tables of --dry-run.
#pragma once

#include "merge/merger.h"
#include "trace_merge/recover_inputs.h"

#include <string>
#include <vector>

namespace traceloom {

// {"schema_version": 1, "output", "origin_unix_ns", "ranks": [{"rank", "evidence",
//  "files": [{"path", "events", "method", "offset_ns", "error_ns", "worst_error_ns", "drift_ppm"}],
//  "events_in", "events_out"}],
//  "problems": [{"file", "kind", "count", "first_offset", "detail" where there is more to say}],
//  "left_out": [{"path", "error"}]}
// With a filter files have "filtered" and ranks "events_filtered" as well: how many were dropped. A
// merged input is a file of each of its ranks, with the events of that rank; a number of them that
// is not known rank by rank is null. Of a dry run the numbers are what the merge would give, and
// the problems those that are met before anything is written. `drift_ppm` is null where clocks are
// taken to run at one speed. A journal that --recover could not use is a problem of the kind
// journal_kept.
std::string merge_report(const MergeSummary& summary, const std::string& output,
                         const std::vector<KeptJournal>& kept_journals = {});

// The plan as text for people: a table of the files and one of the ranks.
std::string describe_plan(const MergeSummary& summary, bool colour, int width);

}  // namespace traceloom
