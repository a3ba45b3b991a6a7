#include "run/launches.h"

#include "base/arithmetic.h"

#include <limits>

namespace traceloom {
namespace {

// Calls use(call, file) for all calls that may have launched something.
template <typename Use>
void for_each_launch(const std::vector<EventColumns>& parts, Use use) {
  for (const EventColumns& part : parts)
    for (const auto& calls : {&part.calls, &part.calls_outside})
      for (const CallSpan& call : *calls)
        if (call.correlation != kNoId) use(call, part.file);
}

}  // namespace

Launches::Launches(const std::vector<EventColumns>& parts) {
  make_slots(parts);
  const bool any_slots = !slots_.empty();
  bool any_others = !any_slots;
  for_each_launch(parts, [&](const CallSpan& call, std::size_t file) {
    const std::uint64_t place = place_of(call.correlation);
    if (place >= slots_.size()) return;
    Slot& slot = slots_[place];
    if (slot.call != nullptr) any_others = slot.has_others = true;
    slot.call = &call;
    slot.file = file;
  });
  if (!any_others) return;
  for_each_launch(parts, [&](const CallSpan& call, std::size_t file) {
    const std::uint64_t place = place_of(call.correlation);
    if (!any_slots || (place < slots_.size() && slots_[place].has_others))
      calls_.add(file, call.correlation, call.start_ns, &call);
  });
  calls_.sort();
}

// Makes slots for the correlations that work has, if those are not too far apart.
void Launches::make_slots(const std::vector<EventColumns>& parts) {
  constexpr std::int64_t kSlotsOfWork = 16;
  constexpr std::int64_t kFewSlots = 4096;
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  std::int64_t count = 0;
  first_id_ = std::numeric_limits<std::int64_t>::max();
  for (const EventColumns& part : parts)
    for (const DeviceSpan& span : part.devices) {
      if (span.correlation == kNoId) continue;
      ++count;
      first_id_ = std::min(first_id_, span.correlation);
      last = std::max(last, span.correlation);
    }
  if (count == 0 || saturating_subtract(last, first_id_) >= kFewSlots + kSlotsOfWork * count)
    return;
  slots_.resize(static_cast<std::size_t>(last - first_id_ + 1));
}

const CallSpan* Launches::find(std::size_t file, const DeviceSpan& work) const {
  if (!slots_.empty()) {
    const std::uint64_t place = place_of(work.correlation);
    if (place >= slots_.size()) return nullptr;
    const Slot& slot = slots_[place];
    if (!slot.has_others) return slot.file == file ? slot.call : nullptr;
  }
  const CallSpan* const* const found = calls_.find(file, work.correlation, work.start_ns);
  return found == nullptr ? nullptr : *found;
}

void Launches::mark(const EventColumns& part, const DeviceSpan& work) {
  const CallSpan* const call = find(part, work);
  if (call == nullptr) return;
  const std::uint64_t place = place_of(work.correlation);
  if (place < slots_.size() && !slots_[place].has_others)
    slots_[place].is_marked = true;
  else
    marked_.insert(call);
}

bool Launches::is_marked(const CallSpan& call) const {
  const std::uint64_t place = place_of(call.correlation);
  return place < slots_.size() && !slots_[place].has_others ? slots_[place].is_marked
                                                            : marked_.contains(&call);
}

namespace {

// Larger ids are no ids of a profiler.
constexpr std::int64_t kMostIds = std::int64_t{1} << 61;

// Calls use(span) for the calls, or else the work, that have no correlation.
template <typename Span, typename Use>
void for_each_without(std::vector<EventColumns>& parts, std::vector<Span> EventColumns::*column,
                      Use use) {
  for (EventColumns& part : parts)
    for (Span& span : part.*column)
      if (span.correlation == kNoId) use(span);
}

bool any_work_without(std::vector<EventColumns>& parts) {
  bool any = false;
  for_each_without(parts, &EventColumns::devices, [&](const DeviceSpan&) { any = true; });
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
  for_each_without(parts, &EventColumns::calls,
                   [&](const CallSpan& call) { of_calls.push_back(id_of(call)); });
  std::ranges::sort(of_calls);
  std::int64_t largest = of_calls.empty() ? kNoId : of_calls.back();
  bool is_shared = false;
  for_each_without(parts, &EventColumns::devices, [&](const DeviceSpan& span) {
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
  for_each_without(parts, &EventColumns::calls, give);
  for_each_without(parts, &EventColumns::devices, give);
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
