// `trace-stats dataloader`: decides whether the input limits the run.
#pragma once

#include "analysis/findings/loader_waits.h"
#include "analysis/report.h"

namespace traceloom {

// The share of the job is exposed_ns divided by of_ns. "of" names the steps to which bottleneck's
// shares refer, too.
Report dataloader_report(const Run& run);

}  // namespace traceloom
