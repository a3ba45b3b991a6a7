// `trace-stats ops`: shows the operators that take the time of the host and of devices.
#pragma once

#include "analysis/report.h"
#include "analysis/work/op_groups.h"

namespace traceloom {

// JSON: "rows": [{"rank","thread","count","launchers","device_share","device_self_ns",
// "device_total_ns","device_mean_ns","device_p50_ns","device_p90_ns","device_p99_ns",
// "device_max_ns","host_share","host_self_ns","host_total_ns","host_mean_ns","host_min_ns",
// "host_p50_ns","host_p90_ns","host_p99_ns","host_max_ns","tensor_core_eligible",
// "tensor_core_self_share","tensor_core_total_share","type","shape","types","strides","inputs",
// "name"}], sorted by device_self_ns, without devices by host_self_ns; "totals": {"host_self_ns",
// "device_self_ns","not_launched_ns","tensor_core_eligible_share"}.
//
// Columns of properties that do not separate rows are left out. Launchers are operators that gave
// work to a device themselves; device_mean_ns and so on are statistics of that work. device_share
// and host_share refer to the own times of all operators. An operator inside one with its own name,
// which contains no other operator, is the same operator once more.
Report ops_report(const Run& run, const OpsOptions& options);

}  // namespace traceloom
