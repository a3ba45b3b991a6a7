// `trace-stats bottleneck`: what limits the run, why one may believe that, and what to do next.
#pragma once

#include "analysis/report.h"
#include "analysis/verdict.h"

namespace traceloom {

// JSON: "verdict": {"kind","share","rank","shares","evidence","advice"}, "steps":
// {"count","mean_ns", "p50_ns","p99_ns"}, "roles": [{"role","mean_ns","share","critical_share"}],
// "ranks": [{"rank", "roles":[...]}]. A step is as long as on the rank on which it takes longest.
struct BottleneckAnswer {
  Report report;
  Verdict verdict;
};
BottleneckAnswer bottleneck_report(const Run& run);

}  // namespace traceloom
