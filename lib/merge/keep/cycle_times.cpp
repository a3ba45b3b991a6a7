#include "merge/keep/cycle_times.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace traceloom {

void CycleTimes::add(const std::vector<MergedCycle>& cycles, std::int64_t ns) {
  if (cycles.empty()) return;
  if (times_.empty()) times_.resize(cycles.size());
  if (ns < from_ns_ || ns > last_ns_) look_up(cycles, ns);
  times_[cycle_].add(ns);
}

void CycleTimes::add(const CycleTimes& other) {
  if (times_.empty()) times_.resize(other.times_.size());
  for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i].add(other.times_[i]);
}

// Divides time as TimeMap::joined() does: everything before the second cycle belongs to the first.
void CycleTimes::look_up(const std::vector<MergedCycle>& cycles, std::int64_t ns) {
  auto next = std::ranges::upper_bound(cycles, ns, {}, &MergedCycle::first_ns);
  if (next == cycles.begin()) ++next;
  const auto cycle = std::prev(next);
  cycle_ = static_cast<std::size_t>(cycle - cycles.begin());
  from_ns_ = cycle == cycles.begin() ? std::numeric_limits<std::int64_t>::min() : cycle->first_ns;
  last_ns_ = next == cycles.end() ? std::numeric_limits<std::int64_t>::max() : next->first_ns - 1;
}

std::vector<MergedCycle> CycleTimes::left_of(const std::vector<MergedCycle>& cycles) const {
  std::vector<MergedCycle> left;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (times_[i] == CommonTimes{}) continue;
    left.push_back(cycles[i]);
    left.back().first_ns = times_[i].first_ns;
    left.back().last_ns = times_[i].last_ns;
  }
  return left;
}

}  // namespace traceloom
