// `trace-stats @COMMAND@`: WRITE: shows what.
#pragma once

#include "analysis/report.h"

namespace traceloom {

Report @NAME@_report(const Run& run);

}  // namespace traceloom
