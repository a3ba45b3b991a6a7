// Writes what stands around the events of a merged trace: the head with its metadata, and the tail
// with what the inputs said besides their events.
#pragma once

#include "merge/file_survey.h"
#include "merge/plan.h"
#include "output/json_writer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Writes the text from `{"displayTimeUnit"` to the last metadata event, piece by piece: for
// thousands of ranks it is large. Events follow, each after a comma. There is always at least one
// metadata event.
void write_head_of_trace(const MergePlan& plan, const std::function<void(std::string_view)>& write);
// Returns whether write_head_of_trace() writes the same for both.
bool have_same_head(const MergePlan& a, const MergePlan& b);

// Counts of the events of a rank in one of its files. A number is empty if nobody has counted
// rank by rank (which B and E of a file of several ranks stay as they are).
struct MergedRankEvents {
  std::uint64_t events_in = 0;
  std::optional<std::uint64_t> events;    // written, or to be written
  std::optional<std::uint64_t> filtered;  // dropped by the filter
};
using EventsOfRank = std::function<MergedRankEvents(std::size_t file, std::int64_t rank)>;

// Writes the key "collectives" if the clock has such an estimate: {"shift_ns", "residual_p50_ns",
// "residual_p95_ns", "bound_ns"}, as in CollectiveEstimate.
void write_estimate(JsonWriter& json, const FileClock& clock);

struct LeftOut {
  std::string path;
  std::string error;
};
// Writes [{"path", "error"}].
void write_left_out(JsonWriter& json, const std::vector<LeftOut>& left_out);

// Writes the text from the bracket after the last event to the end, piece by piece: what the inputs
// said besides their events may be large. otherData.traceloom says what was done:
//   {"version", "origin_ns",
//    "cycles": [{"cycle", "sync_us", "first_ns", "last_ns", "error_bound_us", "start_rounds",
//                "end_rounds"}],                                         (merged_cycles.h)
//    "ranks": [{"rank", "files": [{"path", "evidence", "method", "offset_ns", "error_ns",
//                                  "worst_error_ns", "drift_ppm", "collectives" (where known),
//                                  "events", "tally" and "stamps", or "inputs"}]}],
//                                                                         (input_record.h)
//    "problems": [{"file", "kind", "count", "first_offset"}],              (problem_list.h)
//    "left_out": [{"path", "error"}]}
// "events" is the number of events of that rank, or null. A merge with a filter also has "filter"
// (filter_record.h) and in each file "filtered", the number of its events that were dropped; it has
// nothing of the ranks that are not wanted. otherData.ranks has, for each rank, the top-level
// values of its files that have no place beside the events (for a file that was merged before: what
// its own otherData.ranks says).
void write_tail(const MergePlan& plan, const std::vector<FileSurvey>& surveys,
                const EventsOfRank& events_of, const std::vector<ProblemCounts>& problems,
                const std::vector<LeftOut>& left_out,
                const std::function<void(std::string_view)>& write);

}  // namespace traceloom
