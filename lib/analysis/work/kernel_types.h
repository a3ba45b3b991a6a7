// `trace-stats gpu`, by type of work: computation, communication, memory, and their overlaps.
#pragma once

#include "run/run.h"
#include "table/table.h"

namespace traceloom {

// Rows {"type","total_ns","share"}: every instant of a device with any work belongs to one type,
// "computation", "computation overlapping communication" and so on; summed over all devices, the
// most first. HTA's kernel types; kernels compute or communicate, copies and memset are memory.
Table kernel_types_table(const Run& run);

}  // namespace traceloom
