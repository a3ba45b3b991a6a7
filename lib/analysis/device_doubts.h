// DeviceDoubts: what the traces hold of devices that nothing here understands, so that no verdict
// can be stated about them.
//
//   const DeviceDoubts doubts(run);
//   if (!doubts.not_understood.empty()) note(doubts.not_understood);
#pragma once

#include "analysis/report.h"
#include "run/run.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Spans of one row, of one category where they have any, that look like work of a device.
struct UnknownRow {
  std::int64_t rank = 0;
  std::string_view process;
  std::string_view thread;
  std::string_view category;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  bool is_whole_device = false;  // nothing of that device is understood
};

// Returns the rows in the order of rank, process, thread and category. The texts are views into
// the run, which must outlive them.
std::vector<UnknownRow> find_unknown_rows(const Run& run);

struct DeviceDoubts {
  DeviceDoubts() = default;
  explicit DeviceDoubts(const Run& run);

  // "rows of 'NPU 0' look like a device and are not understood (276 spans, 1.790 ms)"; empty where
  // all devices are understood.
  std::string not_understood;
  // Names of the programs that take most of the devices' computing, the longest first: "'merge',
  // 'remote'". Nothing tells how much of a program is computing. Empty where kernels are told.
  std::string programs;
  // "the host gives work to a device (cudaLaunchKernel) that these traces do not hold"; empty where
  // there are devices, or nothing is launched.
  std::string not_recorded;
};

// When whole programs ran on a rank's devices.
Intervals find_programs(const Run& run, const RankEvents& rank);

// Notes that there is no work of devices, and what follows: "no kernels to tell of"; where there
// are devices that are not understood, these instead.
void note_no_devices(const Run& run, Report& report, std::string_view what_follows);

}  // namespace traceloom
