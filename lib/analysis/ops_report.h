// `trace-stats ops`: which operators take the time, of the host and of devices.
#pragma once

#include "analysis/report.h"

namespace traceloom {

struct OpsOptions {
  bool by_rank = false;
};

// JSON: "rows": [{"rank","count","device_total_ns","device_self_ns","device_share","host_total_ns",
// "host_self_ns","host_p50_ns","host_p99_ns","name"}], sorted by device_self_ns, without devices by
// host_self_ns. An operator within one of its own name that has no other in it is the same once
// more.
Report ops_report(const Run& run, const OpsOptions& options);

}  // namespace traceloom
