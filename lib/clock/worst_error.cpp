#include "clock/worst_error.h"

#include "base/saturating.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace traceloom {
namespace {

__extension__ typedef __int128 Wide;

// Rounds up.
std::int64_t worst_drift_ns(std::int64_t distance_ns) {
  return static_cast<std::int64_t>(
      (Wide{std::max<std::int64_t>(distance_ns, 0)} * kWorstDriftPpm + 999'999) / 1'000'000);
}

std::int64_t apart_ns(std::int64_t a, std::int64_t b) {
  return a < b ? saturating_subtract(b, a) : saturating_subtract(a, b);
}

}  // namespace

KnownShift known_by_events(const ClockFacts& file) {
  const std::int64_t base_ns = file.base_ns.value_or(0);
  const auto [first, last] = std::ranges::minmax(file.sync_events, {}, &SyncEvent::moment_ns);
  return {.from_ns = saturating_add(first.moment_ns, base_ns),
          .to_ns = saturating_add(last.moment_ns, base_ns)};
}

std::int64_t drift_error_ns(const ClockFacts& file, const KnownShift& known) {
  if (!file.first_ns) return 0;
  const std::int64_t base_ns = file.base_ns.value_or(0);
  const std::int64_t first_ns = saturating_add(*file.first_ns, base_ns);
  const std::int64_t last_ns = saturating_add(file.last_ns.value_or(*file.first_ns), base_ns);
  if (known.line == nullptr)
    return worst_drift_ns(std::max(saturating_subtract(last_ns, known.from_ns),
                                   saturating_subtract(known.to_ns, first_ns)));
  const TimeMap line(0, 0, known.line);
  std::vector<std::int64_t> moments{first_ns, last_ns};
  for (const TimeMap::Knot& knot : known.line->knots)
    if (first_ns < knot.at_ns && knot.at_ns < last_ns) moments.push_back(knot.at_ns);
  std::int64_t worst_ns = 0;
  for (const std::int64_t ns : moments) {
    const std::int64_t on_line =
        std::clamp(ns, known.line->knots.front().at_ns, known.line->knots.back().at_ns);
    const std::int64_t shift_ns = saturating_subtract(line.mapped_or_same(on_line), on_line);
    worst_ns = std::max(worst_ns, saturating_add(apart_ns(shift_ns, known.shift_ns),
                                                 worst_drift_ns(apart_ns(ns, on_line))));
  }
  return worst_ns;
}

}  // namespace traceloom
