#include "clock/drift.h"

#include <cmath>

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

ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later) {
  const Int128 elapsed = Int128{later.at_ns} - earlier.at_ns;
  const Int128 jump = magnitude(Int128{later.shift_ns} - earlier.shift_ns);
  const Int128 error = Int128{earlier.error_ns} + later.error_ns;
  const auto is_what_clocks_drift = [elapsed](Int128 change) {
    return change * 1'000'000 <= elapsed * kMaxDriftPpm;
  };
  if (!is_what_clocks_drift(jump - error)) return ClockChange::step;
  // Cycles that follow each other at once are apart by the noise of two barriers.
  return is_what_clocks_drift(jump) && is_what_clocks_drift(error) ? ClockChange::drift
                                                                   : ClockChange::unsure;
}

Drift drift_around(const std::vector<SyncPoint>& points, std::size_t index) {
  const auto drifts_behind = [&](std::size_t i) {
    return i + 1 < points.size() && change_between(points[i], points[i + 1]) == ClockChange::drift;
  };
  std::size_t first = index;
  while (first > 0 && drifts_behind(first - 1)) --first;
  std::size_t last = index;
  while (drifts_behind(last)) ++last;
  Drift drift;
  for (std::size_t i = first; i <= last; ++i)
    drift.knots.push_back({points[i].at_ns, points[i].shift_ns});
  if (index < last)
    drift.ppm = drift_ppm(points[index], points[index + 1]);
  else if (first < index)
    drift.ppm = drift_ppm(points[index - 1], points[index]);
  return drift;
}

}  // namespace traceloom
