// Samples: what events say about an amount at a moment: torch's "[memory]" instants, and counters.
//
//   if (const auto sample = read_memory_sample(event.text(Key::args))) use(sample->bytes);
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// An address or total that the event does not tell.
inline constexpr std::int64_t kNotTold = std::numeric_limits<std::int64_t>::min();

// Memory that an allocator of torch gave out or took back.
struct MemorySample {
  std::int64_t start_ns = 0;
  std::uint32_t track = 0;       // in Tracks: who asked for it
  std::int32_t device_type = 0;  // torch's number
  std::int64_t device = -1;      // -1: the host
  std::int64_t bytes = 0;        // negative: given back
  std::int64_t address = kNotTold;
  std::int64_t allocated = kNotTold;  // of the device in all, with this
  std::int64_t reserved = kNotTold;
};

// One value of a counter event (C).
struct CounterSample {
  std::int64_t start_ns = 0;
  std::uint32_t label = 0;  // in Labels
  std::uint32_t track = 0;  // in Tracks
  std::uint32_t key = 0;    // in Run::details: what the value is called in the event's args
  double value = 0;
};

inline constexpr std::string_view kMemoryEvent = "[memory]";

// What the args of a "[memory]" instant say; nothing when they do not say how many bytes.
std::optional<MemorySample> read_memory_sample(std::string_view args);

// A number as JSON text, also in quotes, that can be counted with: up to 1e100.
std::optional<double> read_counter_value(std::string_view value);

// "CPU", "GPU0" (CUDA and ROCm), "XPU1"; "device 42:0" for a type that has no name here.
std::string memory_device_name(std::int32_t type, std::int64_t device);

}  // namespace traceloom
