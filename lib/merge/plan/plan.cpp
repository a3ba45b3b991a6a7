#include "merge/plan/plan.h"

#include "event/event_timing.h"
#include "merge/arrows/flow_binder.h"

#include <algorithm>
#include <optional>

namespace traceloom {
namespace {

// When a B ends in the output, by a list of ends.
std::optional<std::int64_t> end_in(std::span<const BeginEnd> ends, const Event& begin,
                                   const TimeMap& times) {
  const auto found = std::ranges::lower_bound(ends, begin.offset, {}, &BeginEnd::offset);
  std::int64_t end_ns = 0;
  if (found == ends.end() || found->offset != begin.offset || !times.map(found->end_ns, end_ns))
    return std::nullopt;
  return end_ns;
}

}  // namespace

bool FilePlan::is_superseded(const Event& event, const TrackTarget& target) const {
  return is_cut_slice(event) &&
         superseded.contains({target.rank, std::string(event.text(Key::cut_id))});
}

bool FilePlan::is_startless_end(const Event& event) const {
  return std::binary_search(startless_ends.begin(), startless_ends.end(), event.offset);
}

std::optional<std::int64_t> FilePlan::begin_duration_ns(const Event& event,
                                                        std::int64_t start_ns) const {
  const std::optional<std::int64_t> end_ns = end_in(begin_ends, event, times);
  if (!end_ns) return std::nullopt;
  return *end_ns - start_ns;
}

std::optional<std::int64_t> FilePlan::around_end_ns(const Event& event) const {
  return end_in(open_begins_inside, event, times);
}

bool FilePlan::binds_next(const Event& event) const {
  return binds_to_next_slice(event) && !is_startless_end(event);
}

}  // namespace traceloom
