#include "merge/cut_slices.h"

#include "event/event_timing.h"
#include "merge/file_survey.h"
#include "merge/plan.h"

#include <iterator>

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

void CutSlices::add(const Event& event) {
  if (event.phase != 'E' && event.phase != 'X') return;
  (is_cut_slice(event) ? cut : whole)
      .push_back({std::string(event.text(Key::pid)), std::string(event.text(Key::tid)),
                  std::string(event.text(Key::cut_id))});
}

void CutSlices::append(CutSlices later) {
  cut.insert(cut.end(), std::make_move_iterator(later.cut.begin()),
             std::make_move_iterator(later.cut.end()));
  whole.insert(whole.end(), std::make_move_iterator(later.whole.begin()),
               std::make_move_iterator(later.whole.end()));
}

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
