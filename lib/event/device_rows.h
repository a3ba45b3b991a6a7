// DeviceRow: what the events of a row are, by the names of its process and its thread. Producers
// that give events no category (JAX and all of XLA, Ascend) say it there.
//
//   find_device_row("/device:GPU:0", "Stream #13(Compute)").use == RowUse::work
//   find_device_row("python3", "").use == RowUse::host
//   find_device_row("NPU 3", "").use == RowUse::unknown
//
// The table is in device_rows.cpp: to teach all commands another producer, add its rows there, and
// what their events are in lib/run/event_class.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

enum class RowMaker : std::uint8_t { none, xla, ascend };

enum class RowUse : std::uint8_t {
  host,
  calls,          // of the device's runtime, by the host
  work,           // of a device
  transfers,      // copies and collectives under way beside its work; all else there is a copy
  communication,  // collectives of a device
  steps,          // each span is a step
  copy,           // tells again what other rows of the process tell
  check,          // what the producer has worked out of other rows
  unknown,        // looks like a device; nothing here knows what it is
};

struct DeviceRow {
  RowUse use = RowUse::host;
  RowMaker maker = RowMaker::none;
  // Rows of one process with different levels tell the same time: those of the highest level that
  // has events count.
  std::uint8_t level = 0;
  bool is_nested = false;   // spans of the row lie in others, which they are parts of
  bool is_program = false;  // its spans are whole programs, in which anything may be done
};

// Whether spans of the row stand for something of a device, and not of its host: work, copies of
// it, steps. Nobody knows it of rows that are not understood.
constexpr bool is_on_device(const DeviceRow& row) {
  return row.use != RowUse::host && row.use != RowUse::calls && row.use != RowUse::unknown;
}

// Names as the file says, decoded; either may be empty.
DeviceRow find_device_row(std::string_view process, std::string_view thread);

// True for names of devices: "/device:TPU:0", "NPU 3", "Gaudi accelerator". Not for "GPU Process",
// which is one of a browser.
bool looks_like_device(std::string_view process);

// True for processes of the table, whatever their threads are.
bool is_named_device(std::string_view process);

// 3 of "/device:GPU:3"; nothing where the name is of another form.
std::optional<std::int32_t> device_number(std::string_view process);
// 13 of "Stream #13(Compute)" and "Stream 13".
std::optional<std::int32_t> stream_number(std::string_view thread);

}  // namespace traceloom
