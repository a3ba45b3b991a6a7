// What HTA makes of a trace before it looks at it: its numbers are about that.
//
//   TruthRow loaded = as_hta_loads(row);   // its trace is a file that says so, of this process
//
// Times with parts of microseconds: the start is rounded up, the end down. Traces with several
// steps: with include_last_profiler_step=False what the host did before the last step began, else
// what it did until the last one ended; and the device work that this launched.
#pragma once

#include "truth_rows.h"

namespace traceloom {

TruthRow as_hta_loads(const TruthRow& row);

}  // namespace traceloom
