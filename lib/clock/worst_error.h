// drift_error_ns: the possible error of a file's events if its shift is known at only one moment.
//
//   std::int64_t more_ns = drift_error_ns(facts, {.from_ns = sync_ns, .to_ns = sync_ns});
//
// The error at the sync grows with the distance of an event from it: a drift of 100 ppm makes 10 ms
// in 100 s.
#pragma once

#include "clock/alignment.h"
#include "clock/time_map.h"

#include <cstdint>
#include <memory>

namespace traceloom {

// The drift between two clocks that are each good for 100 ppm, like quartz.
inline constexpr int kWorstDriftPpm = 200;

// The moments at which a shift is known. Times are on the clock of the rank: the time of its files
// plus their base.
struct KnownShift {
  // The moment, or a range of moments that includes it.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t shift_ns = 0;  // used if there is a line
  // The known drift: the shift between syncs; nullptr if it is not known.
  std::shared_ptr<const TimeMap::Line> line = nullptr;
};

// Uses the moments that the file shares with others, without finding out which of them placed it.
KnownShift known_by_events(const ClockFacts& file);

// Returns the most by which the shift at one of the file's events may differ from that at the known
// moment. It follows the line as far as that reaches; beyond it, or without a line, it uses
// kWorstDriftPpm. It is 0 for a file without events.
std::int64_t drift_error_ns(const ClockFacts& file, const KnownShift& known);

}  // namespace traceloom
