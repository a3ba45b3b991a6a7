// parts_of(): splits a merge plan into ranks, for outputs that have one trace a rank.
//
//   for (const RankPart& part : parts_of(plan, surveys)) {
//     narrow(plan, part);
//     WriteVisitor visitor(plan, output);                     // writes that rank only
//     FileSubset subset(visitor, part.files);
//     scan_files(paths_of(part.files), subset, {});
//   }
//   widen(plan, origin_ns);
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct RankPart {
  std::int64_t rank = 0;
  std::vector<std::size_t> files;  // files of the plan; a merged file has several ranks
  std::int64_t origin_ns = 0;      // common time of time 0 in its trace
};

// Returns the parts in ascending order of rank. The first one begins at the origin of the plan, and
// each other one at the first event of its files, so that its times are small and no origin lies
// before the plan's. If the plan has a filter, its selection must be known; a rank without events
// left is no part.
std::vector<RankPart> parts_of(const MergePlan& plan, const std::vector<FileSurvey>& surveys);

// Narrows a plan to that part: the origin is the part's, other ranks are left out.
void narrow(MergePlan& plan, const RankPart& part);
// Undoes narrow(); `origin_ns` is the origin that the plan had before.
void widen(MergePlan& plan, std::int64_t origin_ns);

}  // namespace traceloom
