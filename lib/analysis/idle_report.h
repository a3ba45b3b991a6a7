// `trace-stats idle`: why the devices wait.
#pragma once

#include "analysis/device_gaps.h"
#include "analysis/report.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace traceloom {

struct IdleOptions {
  std::int64_t kernel_gap_ns = 30'000;  // see device_gaps.h
  std::size_t host_rows = 20;           // of "hosts"; the others are one row
};

// JSON: "rows": [{"rank","device","total_ns","idle_ns","idle_share","host_wait_ns",
// "kernel_wait_ns","other_ns","gaps","gap_p50_ns","gap_p99_ns","gap_max_ns"}], of whole devices;
// "streams": the same and "stream" (null where the events name none); host_wait + kernel_wait +
// other = idle. "hosts": [{"gap","op","call","idle_ns","share","gaps"}]: what the thread that
// launched the work at the end of a gap did in the gap, by gaps of whole devices; they add up to
// all idle time. "totals": {"total_ns","idle_ns","host_wait_ns","kernel_wait_ns","other_ns",
// "device_work","unlinked_work"}.
Report idle_report(const Run& run, const IdleOptions& options);

}  // namespace traceloom
