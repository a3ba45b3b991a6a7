// The frame around the events of a merged trace: the head with its metadata and notes of the inputs
// and the filter, and the tail.
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_reading.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace traceloom {

// Writes what stands around the events of a merged trace: the head with its metadata, and the tail
// with what the inputs said besides their events.

// Writes the text from `{"displayTimeUnit"` to the last metadata event, piece by piece: for
// thousands of ranks it is large. Events follow, each after a comma. There is always at least one
// metadata event.
void write_head_of_trace(const MergePlan& plan, const std::function<void(std::string_view)>& write);
// Returns whether write_head_of_trace() writes the same for both.
bool have_same_head(const MergePlan& a, const MergePlan& b);

using EventsOfRank = std::function<MergedRankEvents(std::size_t file, std::int64_t rank)>;

// Writes the text from the bracket after the last event to the end, piece by piece: what the inputs
// said besides their events may be large. otherData.traceloom says what was done:
//   {"version", "origin_ns",
//    "cycles": [{"cycle", "sync_us", "first_ns", "last_ns", "error_bound_us", "start_rounds",
//                "end_rounds"}],                                         (merge_notes.h)
//    "ranks": [{"rank", "files": [{"path", "evidence", "method", "offset_ns", "error_ns",
//                                  "worst_error_ns", "drift_ppm", "collectives" (where known),
//                                  "events", "tally" and "stamps", or "inputs"}]}],
//                                                                         (frame.h)
//    "problems": [{"file", "kind", "count", "first_offset"}],              (json_writer.h)
//    "left_out": [{"path", "error"}]}
// "events" is the number of events of that rank, or null. A merge with a filter also has "filter"
// and in each file "filtered", the number of its events that were dropped; it has
// nothing of the ranks that are not wanted. otherData.ranks has, for each rank, the top-level
// values of its files that have no place beside the events (for a file that was merged before: what
// its own otherData.ranks says).
void write_tail(const MergePlan& plan, const EventsOfRank& events_of,
                const std::vector<ProblemCounts>& problems, const std::vector<LeftOut>& left_out,
                const std::function<void(std::string_view)>& write);

}  // namespace traceloom
