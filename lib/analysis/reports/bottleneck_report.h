// `trace-stats bottleneck`: finds the limit of the run, its evidence, and what to do next.
#pragma once

#include "analysis/report.h"
#include "analysis/verdict/verdict.h"

namespace traceloom {

// JSON: "verdict": {"kind","share","is_delay","rank","status","n","coverage": {"launches",
// "device_work","ranks","world_size","steps"},"of": {"text","rank","ranks","steps","kind"},
// "shares": {"data-loading",...}, "parts": [{"limit","ns","of_ns","share","least_ns","most_ns",
// "unknown_since","status","n","ranks","coverage"}], "waiting" (and "waits_for": "ranks" or
// "stages", "waits_by": to_string(WaitsBy)), "untold", "programs", "not_recorded", "delays":
// [{"limit","ns","of_ns","share"} and the keys of a part], "blocking":
// [{"call","callers","ns","launched_ns","calls","longest_ns"}], "host_code":
// [{"name", "file","ns","inner","inner_ns"}], "possible","evidence","advice","advice_evidence":
// [{"advice", "limit","part","value"} and "status", "n", "ranks", "coverage"]}; "steps":
// {"count","mean_ns","p50_ns","p99_ns"}; "roles": [{"role","mean_ns","share"}]; "ranks":
// [{"rank","roles":[...]}].
//
// "status" is "measured", "inferred" or "cannot tell". "n" is the number of events or steps.
// "launches" counts the pieces of "device_work" whose calls are known. "of" names the steps to
// which all shares and "roles" refer. The lengths in "steps" are those on the rank on which a step
// takes longest.
struct BottleneckAnswer {
  Report report;
  Verdict verdict;
};
BottleneckAnswer bottleneck_report(const Run& run);

}  // namespace traceloom
