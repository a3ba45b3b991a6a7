// `trace-stats comm`: shows how fast collectives are, and which ranks come late to them.
#pragma once

#include "analysis/report.h"

namespace traceloom {

struct CommOptions {
  bool each = false;  // add a table with one row for each matched collective
};

// Values of a row are means over its collectives, waits are means over their parts; they are null
// if only one rank has the collective. For sends and receives, latency and bandwidths describe the
// transfer; there are no bandwidths if the other end is not known.
Report comm_report(const Run& run, const CommOptions& options);

}  // namespace traceloom
