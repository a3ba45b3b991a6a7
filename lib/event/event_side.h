// An event belongs to the host or to a kind of row of a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace traceloom {

// DeviceRow: the kind of events on a row, found by the names of its process and its thread.
// Producers that give events no category (JAX and all of XLA, Ascend) name the kind there.
//
//   find_device_row("/device:GPU:0", "Stream #13(Compute)").use == RowUse::work
//   find_device_row("python3", "").use == RowUse::host
//   find_device_row("NPU 3", "").use == RowUse::unknown
//
// Scripts around CUPTI name no rows: find_row_by_spans() tells their devices by what is on a row.
//
// The table is in event_side.cpp. To teach all commands another producer, add its rows there, and
// the kinds of its events in lib/run/event_class.cpp.

enum class RowMaker : std::uint8_t {
  none,
  xla,
  ascend,
  autograd,  // torch 1.0 to 1.7, and torch.autograd.profiler of later versions
  cupti,     // scripts that write what CUPTI and nsys report
};

enum class RowUse : std::uint8_t {
  host,
  calls,          // calls of the device's runtime, made by the host
  work,           // work of a device
  transfers,      // copies and collectives that run next to the work; every other event there is a
                  // copy
  communication,  // collectives of a device
  steps,          // each span is one step
  copy,           // a repetition of what other rows of the process show
  check,          // results that the producer computed from other rows
  unknown,        // looks like a device, but no rule knows what it holds
};

struct DeviceRow {
  RowUse use = RowUse::host;
  RowMaker maker = RowMaker::none;
  // Rows of one process with different levels show the same time. Only the rows of the highest
  // level that has events count.
  std::uint8_t level = 0;
  bool is_nested = false;   // spans of the row are parts of other spans, inside which they lie
  bool is_program = false;  // its spans are whole programs, which may do anything
};

// Whether spans of the row stand for something of a device, and not of its host: work, copies of
// it, steps. Nobody knows it of rows that are not understood.
constexpr bool is_on_device(const DeviceRow& row) {
  return row.use != RowUse::host && row.use != RowUse::calls && row.use != RowUse::unknown;
}

// The names are the decoded names of the file; either may be empty.
DeviceRow find_device_row(std::string_view process, std::string_view thread);

// SpanNames: what the names of the spans of one row, which have no known category, tell about it.
struct SpanNames {
  bool any_copies = false;  // a span is a copy or a fill of a device: "[MEMCPY] HtoD"
  bool all_kernels = true;  // every span looks like a kernel: "void at::native::...<4, ...>(...)"

  void add(std::string_view name);
};

// Returns the row of a device if the names tell that it is one; otherwise a row of the host.
DeviceRow find_row_by_spans(const SpanNames& names);

// True for names of devices: "/device:TPU:0", "NPU 3", "Gaudi accelerator". False for "GPU
// Process", which is a process of a browser.
bool looks_like_device(std::string_view process);

// True for processes of the table, whatever their threads are called.
bool is_named_device(std::string_view process);

// Returns 3 for "/device:GPU:3" and "Device 3", nullopt if the name has another form.
std::optional<std::int32_t> device_number(std::string_view process);
// Returns 13 for "Stream #13(Compute)" and "Stream 13".
std::optional<std::int32_t> stream_number(std::string_view thread);

// EventSide: whether an event belongs to the host or to a device. Profilers give a range of the
// host and its copy on the device's rows the same name; only their categories differ,
// or, if the producer writes none, their rows (event_side.h).
//
//   event_side("user_annotation") == EventSide::host
//   event_side("gpu_user_annotation") == EventSide::device

enum class EventSide : std::uint8_t { host, device };

// The categories of torch.profiler, in lower case, whose events stand on rows of a device: work of
// the device, copies of host ranges, waits of streams, marks of the profiler.
inline constexpr std::string_view kDeviceCategories[] = {
    "kernel",          "concurrent_kernel",   "mtia_ccp_events",
    "hpu_op",          "privateuse1_kernel",  "gpu_memcpy",
    "memcpy",          "gpu_memset",          "memset",
    "collective_comm", "gpu_user_annotation", "cuda_sync",
    "cuda_event",      "cuda_profiler_range", "mtia_insight",
};

// A device runs work of these categories on streams, of each stream one launch after the other.
// (HPUs and MTIA show programs with their parts.)
inline constexpr std::string_view kStreamCategories[] = {
    "kernel", "concurrent_kernel", "privateuse1_kernel", "gpu_memcpy", "memcpy", "gpu_memset",
    "memset"};

// `category` is one category, in lower case.
constexpr bool is_device_category(std::string_view category) {
  return std::find(std::begin(kDeviceCategories), std::end(kDeviceCategories), category) !=
         std::end(kDeviceCategories);
}

// `category` is the event's own: letters of any case, possibly empty or a comma list. One element
// of the list is enough.
EventSide event_side(std::string_view category);

}  // namespace traceloom
