// drifts_of: computes how the clock of a rank drifts between its clock syncs.
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

// Quartz is good for 100 ppm, and NTP slews by at most 500: clocks that diverge faster were set.
inline constexpr int kMaxDriftPpm = 500;

// A clock sync of one rank.
struct SyncPoint {
  std::int64_t at_ns = 0;     // on the rank's own clock
  std::int64_t shift_ns = 0;  // nanoseconds to the common clock
  std::int64_t error_ns = 0;  // possible error of the shift
};

// Returns the range in which the shift lies.
ClockRange range_of(const SyncPoint& point);

enum class ClockChange : std::uint8_t {
  drift,   // a change of at most 500 ppm of the time between, and errors of the syncs that are no
           // larger
  unsure,  // a change that the errors of the syncs alone may explain
  step,    // a change beyond drift and errors: the clock was set
};
ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later);
// Counts clock_step, with the size of the step and the time in which it happened.
void count_step(const SyncPoint& earlier, const SyncPoint& later, ProblemCounts& problems);

struct Drift {
  // The sync and its neighbours, as far as the clock only drifted, so that the shift can be
  // interpolated between them. It has one knot if the drift is not known. Syncs of one line share
  // it.
  std::shared_ptr<const TimeMap::Line> line;
  // The rate by which the clock runs faster than the reference's, in millionths with three
  // decimals, until the next sync or since the previous one.
  std::optional<double> ppm;
};

// Returns one Drift a point. The points ascend by time.
std::vector<Drift> drifts_of(const std::vector<SyncPoint>& points);

}  // namespace traceloom
