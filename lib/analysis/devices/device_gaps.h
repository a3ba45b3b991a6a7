// DeviceGaps: the times at which a device, or a stream of it, had no work. gap_kinds.h finds the
// reasons.
//
//   for (const DeviceGap& gap : find_gaps(work, 30'000)) idle_ns += gap.length_ns();
//
// A gap lasts from the end of all earlier work until the next work begins. HTA has three kinds of
// gaps, by the launch of the next work:
// - host wait: the launching call began after the gap had
// - kernel wait: the work had been launched, and came within `kernel_gap_ns`
// - other: the work had been launched, and came later, or its launch was not recorded
//
// HTA's gap comes after the work that started last; here it comes after all earlier work.
#pragma once

#include "analysis/devices/device_work.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

enum class HtaGap : std::uint8_t { host_wait, kernel_wait, other };
inline constexpr std::size_t kHtaGapCount = 3;

struct DeviceGap {
  Interval time;
  HtaGap kind;
  const CallSpan* launch;  // launch of the work that ends the gap; nullptr if it was not recorded

  std::int64_t length_ns() const { return time.to_ns - time.from_ns; }
};

// Returns gaps in ascending order that do not touch the work; `work` is as in DeviceWork. Time
// between two recordings is no gap: see RankEvents::unrecorded.
std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded = {});

// Returns the time from the begin of the first work to the end of the last, summed over all
// recordings.
std::int64_t worked_ns(const WorkList& work, const Intervals& unrecorded);

}  // namespace traceloom
