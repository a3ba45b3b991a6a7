#include "record/files/event_feeder.h"

#include <algorithm>
#include <cstring>

namespace traceloom::record {

const EventLabel* EventFeeder::label(std::uint32_t id) {
  if (id < labels_.size() && labels_[id] != nullptr) return labels_[id];
  const EventLabel* const found = find_label_(id);
  if (found == nullptr) return nullptr;
  if (id >= labels_.size()) labels_.resize(id + 1);
  return labels_[id] = found;
}

DurationPart EventFeeder::part_of(const detail::Slot& slot, const EventThread& thread) {
  if (slot.kind == detail::Kind::begin) {
    open_[identity(slot)] = &thread;
    return DurationPart::begin;
  }
  return open_.erase(identity(slot)) > 0 ? DurationPart::end : DurationPart::whole;
}

const double* EventFeeder::values_of(const detail::Slot& slot) {
  constexpr std::size_t kFirstValues = 2;
  values_.resize(slot.value_count);
  const std::size_t first = std::min<std::size_t>(slot.value_count, kFirstValues);
  std::memcpy(values_.data(), &slot.value, first * sizeof(double));
  std::memcpy(values_.data() + first, &slot + 1, (slot.value_count - first) * sizeof(double));
  return values_.data();
}

}  // namespace traceloom::record
