// `trace-stats stragglers`: shows the rank for which the others wait, how often, how much, and why.
#pragma once

#include "analysis/report.h"
#include "run/run.h"

namespace traceloom {

// JSON: "verdict":
// {"rank","cause","confidence","candidates","pattern","waited_for_share","delay_ns_per_step",
// "delay_share","why"}, "rows": [{"rank","steps","waited_for_share","delay_ns_per_step",
// "wait_ns_per_step","step_ns","own_kernel_ns","own_memcpy_ns","own_runtime_ns",
// "own_dataloader_ns","own_cpu_ns","own_other_ns"}]
Report stragglers_report(const Run& run);

}  // namespace traceloom
