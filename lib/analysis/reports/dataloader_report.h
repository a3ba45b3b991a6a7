// `trace-stats dataloader`: decides whether the input limits the run.
#pragma once

#include "analysis/findings/loader_waits.h"
#include "analysis/report.h"

#include <string_view>

namespace traceloom {

// Returns XLA's words for the share of a step that is spent waiting for data: "highly input-bound"
// from 20 %, "moderately input-bound" from 5 %, otherwise "not input-bound".
std::string_view xla_class(double share);

// JSON: "rows": [{"rank","epoch","steps","wait_ns","share","exposed_share","first_ns","p50_ns",
// "p99_ns","between_ns","instrumented","class","composer_rule"}]; "iterators": [{"rank","name",
// "count","total_ns","mean_ns","p50_ns","p99_ns","max_ns"}]; "job": {"share","rank",
// "instrumented"}; "of": {"text","rank","ranks","steps","exposed_ns","of_ns","late_ns_per_step"};
// "classes": {"xla","tb_plugin","composer"}.
//
// The share of the job is exposed_ns divided by of_ns. "of" names the steps to which bottleneck's
// shares refer, too.
Report dataloader_report(const Run& run);

}  // namespace traceloom
