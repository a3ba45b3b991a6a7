// How the clock of a rank drifts between its clock syncs.
//
//   std::vector<SyncPoint> points = {{0, 100, 5}, {1'000'000'000, 40'100, 5}};
//   drifts_of(points)[0].ppm == -40               // the clock loses 40 us a second
#pragma once

#include "base/problems.h"
#include "clock/sync_rounds.h"
#include "clock/time_map.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace traceloom {

// Quartz is good for 100 ppm, and NTP slews by 500 at most: clocks that part faster were set.
inline constexpr int kMaxDriftPpm = 500;

// A clock sync of one rank.
struct SyncPoint {
  std::int64_t at_ns = 0;     // on the rank's own clock
  std::int64_t shift_ns = 0;  // to the common clock
  std::int64_t error_ns = 0;  // how far the shift may be off
};

// Where the shift is, for all that is known.
ClockRange range_of(const SyncPoint& point);

enum class ClockChange : std::uint8_t {
  drift,   // at most 500 ppm of the time between, and the errors of the syncs are no more either
  unsure,  // the errors of the syncs may be all there is to it
  step,    // more than clocks drift and syncs err: the clock was set
};
ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later);
// clock_step, and how far and within what time the clock was set.
void count_step(const SyncPoint& earlier, const SyncPoint& later, ProblemCounts& problems);

struct Drift {
  // The sync and those around it, as far as the clock only drifted: between them the shift can be
  // interpolated. One alone when nothing is known of drift. They share it.
  std::shared_ptr<const TimeMap::Line> line;
  // How much faster the clock runs than the reference's, in millionths, to three decimals: up to
  // the next sync, or since the one before.
  std::optional<double> ppm;
};

// One a point; these ascend by time.
std::vector<Drift> drifts_of(const std::vector<SyncPoint>& points);

}  // namespace traceloom
