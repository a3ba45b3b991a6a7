// `trace-stats info`: what is in each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// JSON: "rows": [{"path","rank","rank_source","producer","events","text_bytes","span_ns","clock",
// "offset_ns","phases"}]; "ranks": [{"rank","step_kind","steps","host_spans","runtime_calls",
// "device_spans","devices"}]; "categories": [{"rank","category","spans","total_ns"}] of the spans
// that analyses look at.
Report info_report(const Run& run);

}  // namespace traceloom
