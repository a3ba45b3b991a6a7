// `trace-stats gpu`, by type of work: computation, communication, memory, and their overlaps.
#pragma once

#include "run/run.h"
#include "table/table.h"

namespace traceloom {

// Makes rows {"type","total_ns","share"}, the largest first, summed over all devices. Every instant
// of a device with any work belongs to one type: "computation", "computation overlapping
// communication" and so on. These are HTA's kernel types: kernels compute or communicate, copies
// and memset are memory.
Table kernel_types_table(const Run& run);

}  // namespace traceloom
