// as_hta_loads: the trace as HTA changes it on loading, because HTA's numbers describe that trace.
//
//   TruthRow loaded = as_hta_loads(row);   // its trace is a file of this process with the changes
//
// HTA rounds starts with parts of a microsecond up and ends down. From a trace with several steps
// it keeps the host events before the begin of the last step (include_last_profiler_step=False) or
// up to its end, and the device work that these launched.
#pragma once

#include "truth_rows.h"

namespace traceloom {

TruthRow as_hta_loads(const TruthRow& row);

}  // namespace traceloom
