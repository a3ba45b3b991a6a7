#include "clock/clock_ranges.h"

#include "base/saturating.h"

#include <algorithm>
#include <limits>

namespace traceloom {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Returns a circle among the links by which the lengths were found; empty if there is none.
std::vector<std::size_t> circle_in(const std::vector<std::size_t>& before) {
  std::vector<std::size_t> seen_from(before.size(), kNone);
  for (std::size_t start = 0; start < before.size(); ++start) {
    std::size_t at = start;
    while (at != kNone && seen_from[at] == kNone) {
      seen_from[at] = start;
      at = before[at];
    }
    if (at == kNone || seen_from[at] != start) continue;
    std::vector<std::size_t> circle{at};
    for (std::size_t next = before[at]; next != at; next = before[next]) circle.push_back(next);
    std::ranges::sort(circle);
    return circle;
  }
  return {};
}

}  // namespace

ClockRanges::ClockRanges(std::size_t clocks)
    : clocks_(clocks), most_(clocks * clocks, kUnlimited) {}

void ClockRanges::limit(std::size_t a, std::size_t b, std::int64_t ahead_ns) {
  std::int64_t& most_ns = most_[a * clocks_ + b];
  most_ns = std::min(most_ns, ahead_ns);
}

void ClockRanges::forget(std::size_t clock) {
  for (std::size_t other = 0; other < clocks_; ++other)
    most_[clock * clocks_ + other] = most_[other * clocks_ + clock] = kUnlimited;
}

// The algorithm of Bellman and Ford. A shorter path that returns to a clock shows as a circle in
// the links, mostly at once.
ClockRanges::Lengths ClockRanges::shortest(std::size_t from, bool is_turned) const {
  Lengths lengths{std::vector<std::int64_t>(clocks_, kUnlimited), {}};
  std::vector<std::size_t> before(clocks_, kNone);
  lengths.ns[from] = 0;
  std::vector<std::size_t> changed{from};
  while (!changed.empty()) {
    std::vector<bool> changes(clocks_, false);
    for (const std::size_t a : changed)
      for (std::size_t b = 0; b < clocks_; ++b) {
        const std::int64_t step_ns = most(a, b, is_turned);
        if (step_ns == kUnlimited) continue;
        const std::int64_t ns = saturating_add(lengths.ns[a], step_ns);
        if (ns >= lengths.ns[b]) continue;
        lengths.ns[b] = ns;
        before[b] = a;
        changes[b] = true;
      }
    changed.clear();
    for (std::size_t clock = 0; clock < clocks_; ++clock)
      if (changes[clock]) changed.push_back(clock);
    lengths.circle = circle_in(before);
    if (!lengths.circle.empty()) break;
  }
  return lengths;
}

ClockRanges::Found ClockRanges::from(std::size_t clock) const {
  const Lengths most = shortest(clock, false);
  const Lengths least = most.circle.empty() ? shortest(clock, true) : Lengths{};
  Found found;
  found.contradiction = most.circle.empty() ? least.circle : most.circle;
  if (!found.contradiction.empty()) return found;
  for (std::size_t other = 0; other < clocks_; ++other)
    found.ahead.push_back({least.ns[other] == kUnlimited ? std::numeric_limits<std::int64_t>::min()
                                                         : -least.ns[other],
                           most.ns[other]});
  return found;
}

}  // namespace traceloom
