#include "clock/drift.h"

#include "base/saturating.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace traceloom {
namespace {

__extension__ typedef __int128 Int128;

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

double drift_ppm(const SyncPoint& earlier, const SyncPoint& later) {
  const Int128 change = Int128{earlier.shift_ns} - later.shift_ns;
  const Int128 elapsed = Int128{later.at_ns} - earlier.at_ns;
  return std::round(static_cast<double>(change) / static_cast<double>(elapsed) * 1e9) / 1e3;
}

}  // namespace

ClockRange range_of(const SyncPoint& point) {
  const auto range =
      difference({point.shift_ns, point.shift_ns}, {-point.error_ns, point.error_ns});
  return range.value_or(ClockRange{point.shift_ns, point.shift_ns});
}

ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later) {
  const Int128 elapsed = Int128{later.at_ns} - earlier.at_ns;
  const Int128 jump = magnitude(Int128{later.shift_ns} - earlier.shift_ns);
  const Int128 error = Int128{earlier.error_ns} + later.error_ns;
  const auto is_what_clocks_drift = [elapsed](Int128 change) {
    return change * 1'000'000 <= elapsed * kMaxDriftPpm;
  };
  if (!is_what_clocks_drift(jump - error)) return ClockChange::step;
  // Between cycles that follow each other directly, the difference is only the noise of two
  // barriers.
  return is_what_clocks_drift(jump) && is_what_clocks_drift(error) ? ClockChange::drift
                                                                   : ClockChange::unsure;
}

void count_step(const SyncPoint& earlier, const SyncPoint& later, ProblemCounts& problems) {
  problems.add(Problem::clock_step, 0);
  const std::int64_t jump_ns = saturating_subtract(earlier.shift_ns, later.shift_ns);
  const std::int64_t elapsed_ns = saturating_subtract(later.at_ns, earlier.at_ns);
  problems.explain(Problem::clock_step,
                   elapsed_ns > 0 ? fmt::format("{} within {}", format_duration(jump_ns),
                                                format_duration(elapsed_ns))
                                  : fmt::format("{} within a cycle", format_duration(jump_ns)));
}

std::vector<Drift> drifts_of(const std::vector<SyncPoint>& points) {
  std::vector<Drift> drifts(points.size());
  for (std::size_t first = 0; first < points.size();) {
    std::size_t last = first;
    while (last + 1 < points.size() &&
           change_between(points[last], points[last + 1]) == ClockChange::drift)
      ++last;
    std::vector<TimeMap::Knot> knots;
    for (std::size_t i = first; i <= last; ++i)
      knots.push_back({points[i].at_ns, points[i].shift_ns});
    const auto line = std::make_shared<const TimeMap::Line>(std::move(knots));
    for (std::size_t i = first; i <= last; ++i) {
      drifts[i].line = line;
      if (first == last) continue;
      const std::size_t earlier = std::min(i, last - 1);
      drifts[i].ppm = drift_ppm(points[earlier], points[earlier + 1]);
    }
    first = last + 1;
  }
  return drifts;
}

}  // namespace traceloom
