// DeviceGaps: when a device, or a stream of it, had nothing to do, and what it was waiting for.
//
//   for (const DeviceGap& gap : find_gaps(work, 30'000)) idle_ns += gap.length_ns();
//
// A gap lasts from the end of all work so far until the next work begins, which says what it was:
//   host wait    the call that launched it began after the gap had: the host was late
//   kernel wait  it had been launched, and came within `kernel_gap_ns`: what it takes to change
//                from one kernel to the next
//   other        it had been launched, and waited for something else: another stream, an event, a
//                copy. So does work of which no launch was recorded, when it comes later
// These are HTA's rules; there a gap is that behind the work that started last, here behind all.
#pragma once

#include "analysis/device_work.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

enum class GapKind : std::uint8_t { host_wait, kernel_wait, other };
inline constexpr std::size_t kGapKindCount = 3;
inline constexpr std::array<std::string_view, kGapKindCount> kGapKindNames{"host wait",
                                                                           "kernel wait", "other"};

struct DeviceGap {
  Interval time;
  GapKind kind;
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
