#include "run/launches.h"

#include <algorithm>

namespace traceloom {

Launches::Launches(const std::vector<EventColumns>& parts) {
  for (const EventColumns& part : parts)
    for (const CallSpan& call : part.calls)
      if (call.correlation != kNoId) calls_.emplace_back(call.correlation, &call);
  const auto before = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->start_ns < b.second->start_ns;
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), before))
    std::stable_sort(calls_.begin(), calls_.end(), before);
}

const CallSpan* Launches::find(std::int64_t correlation) const {
  if (correlation == kNoId) return nullptr;
  const auto found =
      std::lower_bound(calls_.begin(), calls_.end(), correlation,
                       [](const auto& entry, std::int64_t wanted) { return entry.first < wanted; });
  return found != calls_.end() && found->first == correlation ? found->second : nullptr;
}

}  // namespace traceloom
