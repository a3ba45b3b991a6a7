// `trace-stats kernels`: shows the kernels that take the time of the devices.
#pragma once

#include "analysis/report.h"
#include "analysis/work/kernel_groups.h"

namespace traceloom {

// The rows are sorted by total. Columns of properties that do not separate rows are left out.
// tensor_core_share, also that in "totals", covers only kernels whose names show whether they use
// tensor cores, and is null if none does; unknown_share is the share of the others. A short kernel
// takes less than 10 us. Blocks per SM and occupancy are means by duration. Shares refer to the
// time of all kernels, gpu_share to the time from the first to the last work of all devices, for
// each recording.
Report kernels_report(const Run& run, const KernelsOptions& options);

}  // namespace traceloom
