#include "merge/planning/superseded_slices.h"

#include <string>
#include <utility>

namespace traceloom {
namespace {

template <typename Use>
void for_each_place(const TrackPlan& tracks, std::size_t file,
                    const std::vector<CutSlices::Slice>& slices, const Use& use) {
  std::string scratch;
  for (const CutSlices::Slice& slice : slices)
    if (const TrackTarget* const target = tracks.target(file, slice.pid, slice.tid, scratch))
      use(std::pair(target->rank, slice.id));
}

}  // namespace

void plan_cut_slices(const std::vector<FileSurvey>& surveys, MergePlan& plan) {
  SupersededSlices whole;
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for_each_place(plan.tracks, file, surveys[file].cut_slices.whole,
                   [&](const auto& slice) { whole.insert(slice); });
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for_each_place(plan.tracks, file, surveys[file].cut_slices.cut, [&](const auto& slice) {
      if (whole.contains(slice)) plan.files[file].superseded.insert(slice);
    });
}

}  // namespace traceloom
