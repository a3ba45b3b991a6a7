// The tables of `trace-stats memory` that say which operators allocated what: in all, at the peaks,
// and what they never freed.
//
//   append_operator_tables(find_device_memory(run), options, report);
#pragma once

#include "analysis/memory/device_memory.h"
#include "analysis/reports/memory_report.h"

namespace traceloom {

// Nothing for kNotTold.
inline Cell told(std::int64_t bytes) {
  return bytes == kNotTold ? Cell{} : Cell{bytes};
}

// "operators", "peak" and "unfreed"; of each device the first MemoryOptions::operators rows, the
// others as one.
void append_operator_tables(const std::vector<DeviceMemory>& devices, const MemoryOptions& options,
                            Report& report);

}  // namespace traceloom
