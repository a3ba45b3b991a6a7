// append_operator_tables: makes the tables of `trace-stats memory` with the operators that
// allocated memory: in all, at the peaks, and without freeing it.
//
//   append_operator_tables(find_device_memory(run), options, report);
#pragma once

#include "analysis/memory/device_memory.h"
#include "analysis/reports/memory_report.h"

namespace traceloom {

// Returns an empty cell for kNotGiven.
inline Cell told(std::int64_t bytes) {
  return bytes == kNotGiven ? Cell{} : Cell{bytes};
}

// Appends "operators", "peak" and "unfreed". Each device has its first MemoryOptions::operators
// rows, and one row for all others.
void append_operator_tables(const std::vector<DeviceMemory>& devices, const MemoryOptions& options,
                            Report& report);

}  // namespace traceloom
