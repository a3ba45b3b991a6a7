// `trace-stats @COMMAND@`: WRITE: shows what.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// JSON: "rows": [{"rank","name","longest_ns"}]
Report @NAME@_report(const Run& run);

}  // namespace traceloom
