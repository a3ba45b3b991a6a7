// `trace-stats idle`: explains why the devices wait.
#pragma once

#include "analysis/account/gap_reasons.h"
#include "analysis/report.h"

#include <cstddef>
#include <cstdint>

namespace traceloom {

struct IdleOptions {
  std::int64_t kernel_gap_ns = kUsualKernelGap;  // see gap_reasons.h
  std::size_t host_rows = 20;                    // rows of "hosts"; all others form one
};

// The table "rows" is of whole devices; "streams" is the same by stream, which is null if the
// events name none.
//
// host_wait + turn_around + queued + blocked + not_recorded = idle (gap_reasons.h), and so is the
// sum of HTA's three kinds (device_work.h); kernel_wait is part of turn_around and queued. "hosts"
// shows the activity, in gaps of whole devices, of the thread that launched the work at the end of
// the gap, or that is blocked; the rows add up to all idle time.
Report idle_report(const Run& run, const IdleOptions& options);

}  // namespace traceloom
