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

}  // namespace traceloom
