// `trace-stats memory`: shows the use of memory by device, operator, counter and profiled function.
#pragma once

#include "analysis/memory/memory_stats.h"
#include "analysis/report.h"

#include <cstddef>
#include <vector>

namespace traceloom {

struct MemoryOptions {
  bool by_rank = false;        // separate rows of operators and functions for each rank
  std::size_t operators = 10;  // rows a device in each table of operators; 0: all
  std::size_t curve = 0;       // points of the curve of each device; 0: no table of curves
  bool all_values = false;     // include values that are always 0, see MemoryStatsOptions::all
};

// The tables "operators", "peak" and "unfreed" have the operators that allocated the memory; "host"
// has counters of memory, and "functions" memory stats (memory_stats.h) from "stats_files".
//
// CSV has the first of rows, host and functions that is not empty. The run must have been read with
// details and samples.
Report memory_report(const Run& run, const std::vector<MemoryStatsFile>& stats,
                     const MemoryOptions& options);

}  // namespace traceloom
