#include "run/launch_ids.h"

#include <algorithm>
#include <cstdint>

namespace traceloom {
namespace {

// Larger ids are no ids of a profiler.
constexpr std::int64_t kMostIds = std::int64_t{1} << 61;

// Calls use(span) for the calls, or else the work, that have no correlation.
template <typename Use>
void for_each_call_without(std::vector<EventColumns>& parts, Use use) {
  for (EventColumns& part : parts)
    for (CallSpan& call : part.calls)
      if (call.correlation == kNoId) use(call);
}
template <typename Use>
void for_each_work_without(std::vector<EventColumns>& parts, Use use) {
  for (EventColumns& part : parts)
    for (DeviceSpan& span : part.devices)
      if (span.correlation == kNoId) use(span);
}

bool any_work_without(std::vector<EventColumns>& parts) {
  bool any = false;
  for_each_work_without(parts, [&](const DeviceSpan&) { any = true; });
  return any;
}

std::int64_t largest_correlation(const std::vector<EventColumns>& parts) {
  std::int64_t largest = kNoId;
  for (const EventColumns& part : parts) {
    for (const CallSpan& call : part.calls) largest = std::max(largest, call.correlation);
    for (const DeviceSpan& span : part.devices) largest = std::max(largest, span.correlation);
  }
  return std::min(largest, kMostIds);
}

// Gives each call and each piece of work that has no correlation `first` + id_of(span), if a call
// and a piece of work have the same id; spans for which id_of() returns kNoId get none. Returns
// the first number after the new ids.
template <typename Id, typename Linked>
std::int64_t link(std::vector<EventColumns>& parts, std::int64_t first, Id id_of, Linked linked) {
  std::vector<std::int64_t> of_calls;
  for_each_call_without(parts, [&](const CallSpan& call) { of_calls.push_back(id_of(call)); });
  std::ranges::sort(of_calls);
  std::int64_t largest = of_calls.empty() ? kNoId : of_calls.back();
  bool is_shared = false;
  for_each_work_without(parts, [&](const DeviceSpan& span) {
    const std::int64_t id = id_of(span);
    is_shared |= id >= 0 && std::ranges::binary_search(of_calls, id);
    largest = std::max(largest, id);
  });
  if (!is_shared || first > kMostIds || largest > kMostIds) return first;
  const auto give = [&](auto& span) {
    const std::int64_t id = id_of(span);
    if (id < 0) return;
    span.correlation = first + id;
    linked(span);
  };
  for_each_call_without(parts, give);
  for_each_work_without(parts, give);
  return first + largest + 1;
}

// The arrows of a file, by where they start or end.
class Arrows {
 public:
  explicit Arrows(std::vector<EventColumns>& parts) {
    for (EventColumns& part : parts) {
      ends_.insert(ends_.end(), part.arrows.begin(), part.arrows.end());
      part.arrows = {};
    }
    std::ranges::sort(ends_);
  }

  bool empty() const { return ends_.empty(); }
  std::int64_t id_of(const CallSpan& call) const { return find(call, false); }
  std::int64_t id_of(const DeviceSpan& span) const { return find(span, true); }

 private:
  std::int64_t find(const HostSpan& span, bool is_end) const {
    const ArrowEnd wanted{span.start_ns, kNoId, span.track, is_end};
    const auto found = std::ranges::lower_bound(ends_, wanted);
    if (found == ends_.end()) return kNoId;
    const ArrowEnd with_id{span.start_ns, found->id, span.track, is_end};
    return *found == with_id ? found->id : kNoId;
  }

  std::vector<ArrowEnd> ends_;
};

}  // namespace

void link_launches(std::vector<EventColumns>& parts) {
  const Arrows arrows(parts);
  if (!any_work_without(parts)) return;
  std::int64_t next = largest_correlation(parts) + 1;
  next = link(
      parts, next, [](const auto& span) { return span.external; },
      [](auto& span) { span.external = kNoId; });
  if (arrows.empty()) return;
  link(
      parts, next, [&](const auto& span) { return arrows.id_of(span); }, [](const auto&) {});
}

}  // namespace traceloom
