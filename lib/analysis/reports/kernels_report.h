// `trace-stats kernels`: shows the kernels that take the time of the devices.
#pragma once

#include "analysis/report.h"
#include "analysis/work/kernels_options.h"

namespace traceloom {

// JSON: "rows": [{"rank","device","stream","share","total_ns","count","mean_ns","min_ns","p50_ns",
// "p90_ns","p99_ns","max_ns","stddev_ns","gpu_share","short_count","short_ns","blocks_per_sm",
// "occupancy","tensor_core_share","type","grid","block","registers","shared_memory","shape",
// "types","strides","inputs","op","collective","name"}], sorted by total; columns of what rows are
// not told apart by are left out. "totals": {"kernels","total_ns","short_share","short_time_share",
// "tensor_core_share","tensor_core_unknown_share","tensor_core_eligible_share","not_launched_ns"};
// tensor_core_share of a row is of those kernels whose names tell, and null where none does, as the
// total is; unknown_share is that of the others. A short kernel takes less than 10 us; blocks per
// SM and occupancy are means by duration. Shares are of the time of all kernels, gpu_share is of
// the time from the first to the last work of all devices, of each recording.
Report kernels_report(const Run& run, const KernelsOptions& options);

}  // namespace traceloom
