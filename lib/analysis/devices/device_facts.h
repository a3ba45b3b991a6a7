// Facts about devices besides times: what a run already does with them, and what in their rows is
// not understood.
#pragma once

#include "analysis/report.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// DeviceFacts: facts about a run that keep advice from recommending what the run already does.
//
//   const DeviceFacts facts = find_device_facts(run, basis.ranks, true, steps_of);
//   if (facts.has_graphs && !facts.replays_graphs && !facts.captures_graphs) advise("CUDA graphs");

struct DeviceFacts {
  bool has_graphs = false;           // a call of CUDA or HIP, which have graphs
  bool replays_graphs = false;       // a call launches a graph
  bool captures_graphs = false;      // calls or functions capture one
  bool has_torch = false;            // operators of torch
  bool compiles = false;             // torch.compile is in use
  std::int64_t kernel_ns = 0;        // time of kernels that compute
  std::int64_t longest_ns = 0;       // time of those of one name, which take longest
  std::string longest = {};          // that name
  std::int64_t longest_busy_ns = 0;  // time in which at least one of these runs on its rank
  std::size_t longest_n = 0;         // the number of these kernels
  std::int64_t copy_ns = 0;          // time of copies
  std::int64_t pageable_ns = 0;      // time of those from or to memory that is not pinned
};

// Looks at these ranks (indices into Run::ranks), and at the names of kernels only if `kernels`: at
// those that begin in the steps of their rank.
DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks, bool kernels,
                              const std::function<Intervals(std::size_t rank)>& steps_of);

// Whether any rank has events of a device.
bool has_devices(const Run& run);

// Whether names tell of a backward pass or an optimizer: else there are no gradients.
bool is_training(const Run& run);

// DeviceDoubts: the rows of devices in the traces that are not understood, so that no verdict can
// be stated about these devices.
//
//   const DeviceDoubts doubts(run);
//   if (!doubts.not_understood.empty()) note(doubts.not_understood);

// Spans of one row (and one category, if they have any) that look like work of a device.
struct UnknownRow {
  std::int64_t rank = 0;
  std::string_view process;
  std::string_view thread;
  std::string_view category;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  bool is_whole_device = false;  // no row of that device is understood
};

// Returns the rows in the order of rank, process, thread and category. The texts are views into
// the run, which must outlive them.
std::vector<UnknownRow> find_unknown_rows(const Run& run);

struct DeviceDoubts {
  DeviceDoubts() = default;
  explicit DeviceDoubts(const Run& run);

  // "rows of 'NPU 0' look like a device and are not understood (276 spans, 1.790 ms)", or the names
  // of spans of which nothing is known; empty if all is understood.
  std::string not_understood;
  // "rank0.json.gz is cut off: ...". torch.profiler writes operators first and the work of devices
  // last, so that a file without its end may lack all of one kind. Empty if every file is whole.
  std::string cut;
  // Names of the programs that take most of the devices' computing, the longest first: "'merge',
  // 'remote'". It is not known how much of a program is computing. Empty if kernels are recorded.
  std::string programs;
  // "the host gives work to a device (cudaLaunchKernel) that these traces do not hold"; empty if
  // there are devices, or nothing is launched.
  std::string not_recorded;
};

// Returns the times at which whole programs ran on a rank's devices.
Intervals find_programs(const Run& run, const RankEvents& rank);

// Returns the ranks that have files of several processes, one after the other: the ids of launches
// begin again.
std::vector<std::int64_t> ranks_of_several_runs(const Run& run);

// Adds a note that there is no work of devices, with the consequence `what_follows`. If there are
// devices that are not understood, the note names these instead.
void note_no_devices(const Run& run, Report& report, std::string_view what_follows);

}  // namespace traceloom
