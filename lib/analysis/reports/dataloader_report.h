// `trace-stats dataloader`: decides whether the input limits the run.
#pragma once

#include "analysis/findings/loader_waits.h"
#include "analysis/report.h"

#include <string_view>

namespace traceloom {

// Returns XLA's words for the share of a step that is spent waiting for data: "highly input-bound"
// from 20 %, "moderately input-bound" from 5 %, otherwise "not input-bound".
std::string_view xla_class(double share);

// The share of the job is exposed_ns divided by of_ns. "of" names the steps to which bottleneck's
// shares refer, too.
Report dataloader_report(const Run& run);

}  // namespace traceloom
