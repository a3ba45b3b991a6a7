// `trace-stats kernels`: shows the kernels that take the time of the devices.
#pragma once

#include "analysis/report.h"
#include "analysis/work/kernel_groups.h"

namespace traceloom {

// JSON: "rows": [{"rank","device","stream","share","total_ns","count","mean_ns","min_ns","p50_ns",
// "p90_ns","p99_ns","max_ns","stddev_ns","gpu_share","short_count","short_ns","blocks_per_sm",
// "occupancy","tensor_core_share","type","grid","block","registers","shared_memory","shape",
// "types","strides","inputs","op","collective","name"}], sorted by total; "totals": {"kernels",
// "total_ns","short_share","short_time_share","tensor_core_share","tensor_core_unknown_share",
// "tensor_core_eligible_share","not_launched_ns"}.
//
// Columns of properties that do not separate rows are left out. tensor_core_share, also that in
// "totals", covers only kernels whose names show whether they use tensor cores, and is null if none
// does; unknown_share is the share of the others. A short kernel takes less than 10 us. Blocks per
// SM and occupancy are means by duration. Shares refer to the time of all kernels, gpu_share to the
// time from the first to the last work of all devices, for each recording.
Report kernels_report(const Run& run, const KernelsOptions& options);

}  // namespace traceloom
