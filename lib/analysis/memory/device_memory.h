// find_device_memory: the memory that torch's allocators allocated and freed on each device, from
// the "[memory]" instants of a rank.
//
//   for (const DeviceMemory& device : find_device_memory(run)) use(device.peak().allocated);
//
// An allocation belongs to the innermost operator (category cpu_op) that ran on its thread at its
// time, from its start and before its end. The run must have been read with details and samples.
#pragma once

#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The values of the curve from a moment on.
struct MemoryPoint {
  std::int64_t at_ns = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = kNotGiven;
};

// The effect of an operator on the memory of one device; `self` excludes operators inside it.
struct OperatorMemory {
  std::int64_t calls = 0;          // calls on the rank, whether they allocated or not
  std::int64_t self_increase = 0;  // bytes allocated minus bytes freed
  std::int64_t self_alloc = 0;     // bytes allocated
  std::int64_t self_count = 0;     // number of allocations
  std::int64_t increase = 0;
  std::int64_t alloc = 0;
  std::int64_t count = 0;
  std::int64_t at_peak = 0;  // bytes that it allocated itself and had not freed at the peak
  std::int64_t at_peak_count = 0;
  std::int64_t unfreed = 0;  // the same at the end of the trace
  std::int64_t unfreed_count = 0;
  std::int64_t unfreed_steps = 0;  // number of steps in which these were allocated
};
// The name for allocations while no operator ran.
inline constexpr std::string_view kNoOperatorName = "(no operator)";

struct DeviceMemory {
  std::int64_t rank = 0;
  std::int32_t type = 0;
  std::int64_t device = -1;
  // Sorted by time; the first point is the memory before the first event of the device.
  std::vector<MemoryPoint> curve;
  Intervals unrecorded;       // of the rank: between two recordings
  bool is_relative = false;   // totals are not recorded, so they count from 0
  bool has_addresses = true;  // false: it is not known what was freed
  std::int64_t allocations = 0;
  std::int64_t frees = 0;
  std::size_t peak_index = 0;  // index in the curve of the first of the highest points
  std::optional<std::int64_t> peak_step;
  std::string peak_operator;  // operator that ran at the peak; empty if none did
  std::map<std::string, OperatorMemory, std::less<>> operators;  // keyed by name

  std::string name() const { return memory_device_name(type, device); }
  const MemoryPoint& peak() const { return curve[peak_index]; }
  std::int64_t reserved_peak() const;  // kNotGiven if it is not recorded
  std::int64_t mean() const;           // mean over the recorded time
  // The slope of a straight line through the memory at the ends of steps; set for at least three
  // steps.
  std::optional<std::int64_t> growth_per_step;
};

// The memory of one rank, sorted by type and number.
std::vector<DeviceMemory> find_device_memory(const Run& run, const RankEvents& rank);

// Sorted by rank, type and number; a rank without such events has none.
// The run keeps them (RunMemo).
const std::vector<DeviceMemory>& find_device_memory(const Run& run);

}  // namespace traceloom
