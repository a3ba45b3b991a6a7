// `trace-stats memcpy`: what devices copy and fill, and how fast.
#pragma once

#include "analysis/report.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// A copy, or memory that is filled.
struct Transfer {
  std::string_view kind;    // "Memcpy HtoD", "Memset"
  std::string_view memory;  // "Pageable -> Device"; empty when the name does not say
  std::int64_t rank = 0;
  std::int32_t device = 0;
  Interval time;
  std::optional<std::int64_t> bytes;  // as the event says
  // Of 1e9 bytes a second: as the event says, which knows its duration to the nanosecond where the
  // trace has whole microseconds; else bytes by duration. None when nothing tells it.
  std::optional<double> gbps;
};

// By rank. The run must have been read with details, and outlive them.
std::vector<Transfer> find_transfers(const Run& run);

// What tells rows apart beside kind and memory.
struct MemcpyOptions {
  bool by_rank = false;
  bool by_device = false;
};

// JSON: "rows": [{"rank","device","total_ns","count","bytes","mean_ns","p50_ns","max_ns","gbps",
// "gbps_min","gbps_p50","gbps_p90","gbps_max","exposed_ns","kind","memory"}], sorted by total;
// columns of what rows are not told apart by are left out. gbps is of all that tell it (bytes by
// time), the others are of the transfers one by one; exposed_ns is the time while nothing computes
// or communicates on their device.
Report memcpy_report(const Run& run, const MemcpyOptions& options);

}  // namespace traceloom
