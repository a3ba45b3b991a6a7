// `trace-stats gpu`: shows how busy the devices are, and what computation does not hide.
#pragma once

#include "analysis/report.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

// The times of one device of a rank. compute + exposed_comm + exposed_memcpy + idle = total.
struct DeviceTimes {
  std::int64_t rank = 0;
  std::int32_t device = 0;
  std::int64_t total_ns = 0;           // time from its first to its last event
  std::int64_t compute_ns = 0;         // kernels except collectives, and memset
  std::int64_t exposed_comm_ns = 0;    // collectives while nothing computes
  std::int64_t exposed_memcpy_ns = 0;  // copies while nothing computes or communicates
  std::int64_t idle_ns = 0;
  std::int64_t kernel_ns = 0;  // kernels except collectives: HTA's compute time
  std::int64_t comm_ns = 0;    // collectives
  std::int64_t memcpy_ns = 0;
  std::int64_t overlap_ns = 0;  // time of collectives while kernels compute
  std::int64_t busy_ns() const { return total_ns - idle_ns; }
  // Share of the time from the first step's begin to the last one's end in which kernels run,
  // including collectives.
  std::optional<double> utilization;
  // The same weighted by min(1, blocks per SM), if kernels have it; tb_plugin's estimate.
  std::optional<double> sm_efficiency;
  std::optional<double> occupancy;  // estimated achieved occupancy, weighted by the kernels'
                                    // durations; 0 to 1
};

// Sorted by rank and device. The last two members are not known if the run was read without
// details.
std::vector<DeviceTimes> device_times(const Run& run);

Report gpu_report(const Run& run);

}  // namespace traceloom
