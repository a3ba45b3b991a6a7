// `trace-stats ops`: shows the operators that take the time of the host and of devices.
#pragma once

#include "analysis/report.h"
#include "analysis/work/op_groups.h"

namespace traceloom {

// The rows are sorted by device_self_ns, without devices by host_self_ns.
//
// Columns of properties that do not separate rows are left out. Launchers are operators that gave
// work to a device themselves; device_mean_ns and so on are statistics of that work. device_share
// and host_share refer to the own times of all operators. An operator inside one with its own name,
// which contains no other operator, is the same operator once more.
Report ops_report(const Run& run, const OpsOptions& options);

}  // namespace traceloom
