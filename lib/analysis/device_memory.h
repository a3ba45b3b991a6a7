// What torch's allocators gave out and took back, by device: "[memory]" instants of a rank.
//
//   for (const DeviceMemory& device : find_device_memory(run)) use(device.peak().allocated);
//
// An allocation belongs to the innermost operator (category cpu_op) that ran on its thread at its
// time, from its start and before its end. The run must have been read with details and samples.
#pragma once

#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The curve from a moment on.
struct MemoryPoint {
  std::int64_t at_ns = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = kNotTold;
};

// What an operator did to the memory of one device; `self` without the operators in it.
struct OperatorMemory {
  std::int64_t calls = 0;          // of the rank, whether they allocated or not
  std::int64_t self_increase = 0;  // given out less what was taken back
  std::int64_t self_alloc = 0;     // given out
  std::int64_t self_count = 0;     // how many times
  std::int64_t increase = 0;
  std::int64_t alloc = 0;
  std::int64_t count = 0;
  std::int64_t at_peak = 0;  // of what it allocated itself: not taken back before the peak
  std::int64_t at_peak_count = 0;
  std::int64_t unfreed = 0;  // the same at the end of the trace
  std::int64_t unfreed_count = 0;
  std::int64_t unfreed_steps = 0;  // in how many steps that was allocated
};
// Of what was allocated while no operator ran.
inline constexpr std::string_view kNoOperatorName = "(no operator)";

struct DeviceMemory {
  std::int64_t rank = 0;
  std::int32_t type = 0;
  std::int64_t device = -1;
  // By time; the first is what was allocated before the first event of the device.
  std::vector<MemoryPoint> curve;
  Intervals unrecorded;       // of the rank: between two recordings
  bool is_relative = false;   // totals are not told: counted from 0
  bool has_addresses = true;  // else nobody knows what was taken back
  std::int64_t allocations = 0;
  std::int64_t frees = 0;
  std::size_t peak_index = 0;  // of the curve: the first of the highest
  std::optional<std::int64_t> peak_step;
  std::string_view peak_operator;                        // that ran then; empty when none did
  std::map<std::string_view, OperatorMemory> operators;  // by name

  std::string name() const { return memory_device_name(type, device); }
  const MemoryPoint& peak() const { return curve[peak_index]; }
  std::int64_t reserved_peak() const;  // kNotTold when it is not
  std::int64_t mean() const;           // over the time that was recorded
  // By a straight line through what is allocated at the ends of steps; with three steps and more.
  std::optional<std::int64_t> growth_per_step;
};

// By rank, type and number; none of a rank without such events.
std::vector<DeviceMemory> find_device_memory(const Run& run);

}  // namespace traceloom
