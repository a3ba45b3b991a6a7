// `trace-stats kernels`: which kernels take the time of the devices.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// What tells rows apart beside the name.
struct KernelsOptions {
  bool by_operator = false;  // the operator that launched it
  bool by_launch = false;    // grid, block, registers, shared memory
  bool by_rank = false;
};

// JSON: "rows": [{"rank","share","total_ns","count","mean_ns","min_ns","p50_ns","p90_ns","p99_ns",
// "max_ns","blocks_per_sm","occupancy","tensor_core","op","grid","block","registers",
// "shared_memory","name"}], sorted by total; columns of what rows are not told apart by are left
// out. "totals": {"kernels","total_ns","short_share","tensor_core_share"}; a short kernel takes
// less than 10 us; blocks per SM and occupancy are means by duration.
Report kernels_report(const Run& run, const KernelsOptions& options);

// By the names of NVIDIA's kernels that use tensor cores.
bool uses_tensor_cores(std::string_view kernel);

}  // namespace traceloom
