// `trace-stats bottleneck`: what limits the run, why one may believe that, and what to do next.
#pragma once

#include "analysis/report.h"
#include "analysis/verdict.h"

namespace traceloom {

// JSON: "verdict": {"kind","share","is_delay","rank","of": {"text","rank","ranks","steps",
// "kind"},
// "shares": {"data-loading",...}, "parts": [{"limit","ns","of_ns","share","least_ns","most_ns",
// "unknown_since"}], "waiting", "delays": [{"limit","ns","of_ns","share"}], "possible","evidence",
// "advice"}, "steps": {"count","mean_ns","p50_ns","p99_ns"}, "roles": [{"role","mean_ns","share"}],
// "ranks": [{"rank","roles":[...]}]. All shares, and "roles", are of the steps that "of" names.
// Those of "steps" are as long as on the rank on which they take longest.
struct BottleneckAnswer {
  Report report;
  Verdict verdict;
};
BottleneckAnswer bottleneck_report(const Run& run);

}  // namespace traceloom
