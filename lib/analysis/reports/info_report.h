// `trace-stats info`: describes the content of each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// JSON: "rows": [{"path","rank","rank_source","producer","events","text_bytes","span_ns","clock",
// "offset_ns","phases"}]; "ranks": [{"rank","step_kind","steps","host_spans","runtime_calls",
// "device_spans","devices"}]; "categories": [{"rank","category","spans","total_ns"}] for the spans
// that analyses use; "not_understood": [{"rank","spans","total_ns","category","process","thread"}]
// for rows that look like a device, if there are any.
Report info_report(const Run& run);

// Adds a table "clocks" with the clocks that collectives give, if a file shares some with the
// reference. The command check uses it, too.
void add_clocks(const Run& run, Report& report);

}  // namespace traceloom
