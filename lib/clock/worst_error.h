// How far the events of a file may be off, where its shift is known at one moment only.
//
//   std::int64_t more_ns = drift_error_ns(facts, {.from_ns = sync_ns, .to_ns = sync_ns});
//
// What is known of a clock at its sync is known less the farther away an event is: a drift of 100
// ppm makes 10 ms in 100 s.
#pragma once

#include "clock/alignment.h"
#include "clock/time_map.h"

#include <cstdint>
#include <memory>

namespace traceloom {

// Of two clocks that are each good for 100 ppm, as quartz is.
inline constexpr int kWorstDriftPpm = 200;

// All on the clock of the rank: the time of its files plus their base.
struct KnownShift {
  // The moment, or moments of which it is one.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t shift_ns = 0;  // which counts where there is a line
  // What is known of the drift: the shift between syncs. nullptr: nothing.
  std::shared_ptr<const TimeMap::Line> line = nullptr;
};

// By the moments that the file shares with others: which of them it was is not asked.
KnownShift known_by_events(const ClockFacts& file);

// The most that the file's shift may be another at one of its events than at the moment where it is
// known: on the line as far as that goes, beyond it, or without one, by kWorstDriftPpm. 0 for a
// file without events.
std::int64_t drift_error_ns(const ClockFacts& file, const KnownShift& known);

}  // namespace traceloom
