// EventSide: whether an event stands for something of the host or of a device. Profilers give a
// range of the host and its copy on the device's rows one name; what tells them apart is their
// category, or, of producers that give none, their row (device_rows.h).
//
//   event_side("user_annotation") == EventSide::host
//   event_side("gpu_user_annotation") == EventSide::device
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace traceloom {

enum class EventSide : std::uint8_t { host, device };

// The categories of torch.profiler, in lower case, whose events stand on rows of a device: its
// work, copies of host ranges, waits of its streams, marks of its profiler.
inline constexpr std::string_view kDeviceCategories[] = {
    "kernel",          "concurrent_kernel",   "mtia_ccp_events",
    "hpu_op",          "privateuse1_kernel",  "gpu_memcpy",
    "memcpy",          "gpu_memset",          "memset",
    "collective_comm", "gpu_user_annotation", "cuda_sync",
    "cuda_event",      "cuda_profiler_range", "mtia_insight",
};

// One category, in lower case.
constexpr bool is_device_category(std::string_view category) {
  return std::find(std::begin(kDeviceCategories), std::end(kDeviceCategories), category) !=
         std::end(kDeviceCategories);
}

// `category` as the event has it: in any case of letters, maybe empty or a comma list, of which one
// element is enough.
EventSide event_side(std::string_view category);

}  // namespace traceloom
