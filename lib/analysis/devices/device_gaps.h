// DeviceGaps: when a device, or a stream of it, had nothing to do. Why is told by gap_kinds.h.
//
//   for (const DeviceGap& gap : find_gaps(work, 30'000)) idle_ns += gap.length_ns();
//
// A gap lasts from the end of all work so far until the next work begins. HTA has three kinds of
// them, by how that work came:
//   host wait    the call that launched it began after the gap had
//   kernel wait  it had been launched, and came within `kernel_gap_ns`
//   other        it had been launched, and came later. So does work of which no launch was recorded
// There a gap is that behind the work that started last, here behind all.
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
  const CallSpan* launch;  // of the work that ends the gap; nullptr when it was not recorded

  std::int64_t length_ns() const { return time.to_ns - time.from_ns; }
};

// Ascending, never touching the work; `work` as in DeviceWork. What is between two recordings is no
// gap: see RankEvents::unrecorded.
std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded = {});

// From the begin of the first work to the end of the last, of each recording.
std::int64_t worked_ns(const WorkList& work, const Intervals& unrecorded);

}  // namespace traceloom
