#include "merge/plan/plan.h"

#include "event/event_timing.h"
#include "merge/arrows/flow_binder.h"

#include <algorithm>

namespace traceloom {

bool FilePlan::is_superseded(const Event& event, const TrackTarget& target) const {
  return is_cut_slice(event) &&
         superseded.contains({target.rank, std::string(event.text(Key::cut_id))});
}

bool FilePlan::is_startless_end(const Event& event) const {
  return std::binary_search(startless_ends.begin(), startless_ends.end(), event.offset);
}

bool FilePlan::binds_next(const Event& event) const {
  return binds_to_next_slice(event) && !is_startless_end(event);
}

}  // namespace traceloom
