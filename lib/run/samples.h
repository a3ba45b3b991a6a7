// Samples: amounts at a moment, from torch's "[memory]" instants and from counters.
//
//   if (const auto sample = read_memory_sample(event.text(Key::args))) use(sample->bytes);
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// The value of an address or total that the event does not have.
inline constexpr std::int64_t kNotGiven = std::numeric_limits<std::int64_t>::min();

// Memory that an allocator of torch allocated or freed.
struct MemorySample {
  std::int64_t start_ns = 0;
  std::uint32_t track = 0;       // number in Tracks of the thread that asked for it
  std::int32_t device_type = 0;  // torch's number of the type
  std::int64_t device = -1;      // -1 for the host
  std::int64_t bytes = 0;        // bytes allocated; negative if freed
  std::int64_t address = kNotGiven;
  std::int64_t allocated = kNotGiven;  // bytes allocated on the device in all, including this
  std::int64_t reserved = kNotGiven;
};

// One value of a counter event (C).
struct CounterSample {
  std::int64_t start_ns = 0;
  std::uint32_t label = 0;  // number in Labels
  std::uint32_t track = 0;  // number in Tracks
  std::uint32_t key = 0;    // number in Run::details of the value's key in the event's args
  double value = 0;
};

inline constexpr std::string_view kMemoryEvent = "[memory]";

// Reads the args of a "[memory]" instant; nullopt if they do not give the bytes.
std::optional<MemorySample> read_memory_sample(std::string_view args);

// Reads a number, also in quotes, that can be added up: at most 1e100.
std::optional<double> read_counter_value(std::string_view value);

// Returns "CPU", "GPU0" (CUDA and ROCm), "XPU1", or "device 42:0" for a type without a name here.
std::string memory_device_name(std::int32_t type, std::int64_t device);

}  // namespace traceloom
