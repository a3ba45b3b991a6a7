// What stands around the events of a merged trace: the head with its metadata, the tail with what
// the inputs said beside their events.
#pragma once

#include "merge/file_survey.h"
#include "merge/plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// From `{"displayTimeUnit"` to the last metadata event, piece by piece: of thousands of ranks it is
// large. Events follow, each behind a comma. There is always at least one metadata event.
void write_head_of_trace(const MergePlan& plan, const std::function<void(std::string_view)>& write);
// Whether write_head_of_trace() writes the same of both.
bool have_same_head(const MergePlan& a, const MergePlan& b);

// From the bracket behind the last event to the end of the text, piece by piece: what the inputs
// said beside their events may be large. otherData.traceloom says what was done:
//   {"version", "origin_ns", "ranks": [{"rank", "files": [{"path", "evidence", "method",
//   "offset_ns",
//    "error_ns", "drift_ppm" (where known), "events"}]}], "problems": [{"file", "kind", "count",
//    "first_offset"}], "left_out":
//    [{"path", "error"}]}
// With a filter there is "filter" (filter_record.h), each file has "filtered" as well, the number
// of its events that were dropped, and there is nothing of the ranks that are not wanted.
// otherData.ranks has, per rank, the top-level values of its files that have no place beside the
// events (of a file that was merged before: what its own otherData.ranks says).
struct LeftOut {
  std::string path;
  std::string error;
};
void write_tail(const MergePlan& plan, const std::vector<FileSurvey>& surveys,
                const std::vector<std::uint64_t>& events,
                const std::vector<ProblemCounts>& problems, const std::vector<LeftOut>& left_out,
                const std::function<void(std::string_view)>& write);

}  // namespace traceloom
