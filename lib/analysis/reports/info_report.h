// `trace-stats info`: describes the content of each file.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// The table "categories" has the spans that analyses use. "not_understood" is there if some rows
// look like a device and are not understood.
Report info_report(const Run& run);

// Adds a table "clocks" with the clocks that collectives give, if a file shares some with the
// reference. The command check uses it, too.
void add_clocks(const Run& run, Report& report);

}  // namespace traceloom
