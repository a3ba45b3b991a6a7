#include "run/launches.h"

#include <algorithm>

namespace traceloom {

Launches::Launches(const std::vector<EventColumns>& parts) {
  for (const EventColumns& part : parts) add(part.calls);
  sort();
}

Launches::Launches(const std::vector<EventColumns>& parts, const std::vector<CallSpan>& outside) {
  for (const EventColumns& part : parts) add(part.calls);
  add(outside);
  sort();
}

void Launches::add(const std::vector<CallSpan>& calls) {
  for (const CallSpan& call : calls)
    if (call.correlation != kNoId) calls_.emplace_back(call.correlation, &call);
}

void Launches::sort() {
  const auto before = [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first < b.first : a.second->start_ns < b.second->start_ns;
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), before))
    std::stable_sort(calls_.begin(), calls_.end(), before);
}

std::vector<Launches::Entry>::const_iterator Launches::first_of(std::int64_t correlation) const {
  return std::lower_bound(
      calls_.begin(), calls_.end(), correlation,
      [](const Entry& entry, std::int64_t wanted) { return entry.first < wanted; });
}

const CallSpan* Launches::find(std::int64_t correlation) const {
  if (correlation == kNoId) return nullptr;
  const auto found = first_of(correlation);
  return found != calls_.end() && found->first == correlation ? found->second : nullptr;
}

const CallSpan* Launches::find(const DeviceSpan& work) const {
  const CallSpan* best = find(work.correlation);
  if (best == nullptr) return nullptr;
  for (auto entry = first_of(work.correlation);
       entry != calls_.end() && entry->first == work.correlation; ++entry)
    if (entry->second->start_ns <= work.start_ns) best = entry->second;
  return best;
}

}  // namespace traceloom
