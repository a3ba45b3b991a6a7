// `trace-stats memcpy`: shows the copies and fills of devices, and their speed.
#pragma once

#include "analysis/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// A copy, or a fill of memory.
struct Transfer {
  std::string kind;    // "Memcpy HtoD", "Memset"
  std::string memory;  // "Pageable -> Device"; empty if the name has none
  std::int64_t rank = 0;
  std::int32_t device = 0;
  Interval time;
  std::optional<std::int64_t> bytes;  // bytes in the event
  // 1e9 bytes a second. The event's own value is preferred, because it is based on a duration in
  // nanoseconds even if the trace has whole microseconds; otherwise it is bytes by duration. Absent
  // if neither is known.
  std::optional<double> gbps;
};

// Sorted by rank. The run must have been read with details.
std::vector<Transfer> find_transfers(const Run& run);

// The properties that separate rows, in addition to kind and memory.
struct MemcpyOptions {
  bool by_rank = false;
  bool by_device = false;
};

// The rows are sorted by total. Columns of properties that do not separate rows are left out. gbps
// is bytes by time over all transfers with a known bandwidth; the other bandwidths describe single
// transfers. exposed_ns is the time in which nothing computes or communicates on the device.
Report memcpy_report(const Run& run, const MemcpyOptions& options);

}  // namespace traceloom
