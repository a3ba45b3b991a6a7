#include "merge/slices/cut_slices.h"

#include "event/event_timing.h"

#include <iterator>

namespace traceloom {
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

}  // namespace traceloom
