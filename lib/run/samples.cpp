#include "run/samples.h"

#include "base/json_walk.h"
#include "event/event.h"

#include <charconv>
#include <cmath>

namespace traceloom {
namespace {

struct DeviceName {
  std::int32_t type;
  std::string_view name;
};
constexpr DeviceName kDeviceNames[] = {{1, "GPU"},  {6, "GPU"},  {9, "XLA"},   {12, "XPU"},
                                       {13, "MPS"}, {15, "HPU"}, {19, "MTIA"}, {20, "NPU"}};

// No device has more memory; a larger number is no amount, and sums have room for this one.
constexpr double kMostValue = 1e100;  // larger values overflow in sums and units
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

std::int64_t read_bytes(const JsonWalk& walk) {
  const std::int64_t bytes = json_integer(walk.value()).value_or(kNotGiven);
  return -kMostBytes < bytes && bytes < kMostBytes ? bytes : kNotGiven;
}

}  // namespace

std::optional<MemorySample> read_memory_sample(std::string_view args) {
  MemorySample sample;
  sample.bytes = kNotGiven;
  for (JsonWalk walk(args); walk.next();) {
    if (walk.key() == "Bytes") sample.bytes = read_bytes(walk);
    if (walk.key() == "Addr") sample.address = json_integer(walk.value()).value_or(kNotGiven);
    if (walk.key() == "Total Allocated") sample.allocated = read_bytes(walk);
    if (walk.key() == "Total Reserved") sample.reserved = read_bytes(walk);
    if (walk.key() == "Device Type")
      sample.device_type =
          static_cast<std::int32_t>(json_integer(walk.value()).value_or(0) & 0xffff);
    if (walk.key() == "Device Id") sample.device = json_integer(walk.value()).value_or(-1);
  }
  if (sample.bytes == kNotGiven) return std::nullopt;
  return sample;
}

std::optional<double> read_counter_value(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  double number = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc{} && stop == value.data() + value.size();
  if (!whole || !(std::abs(number) <= kMostValue)) return std::nullopt;
  return number;
}

std::string memory_device_name(std::int32_t type, std::int64_t device) {
  if (type == 0) return "CPU";
  for (const DeviceName& known : kDeviceNames)
    if (known.type == type) return std::string(known.name) + std::to_string(device);
  return "device " + std::to_string(type) + ":" + std::to_string(device);
}

}  // namespace traceloom
