// recorder_json(): what the recorder says of a file at its end: how many events are in it, and how
// many are not.
//
//   sink.metadata({"recorder", recorder_json({.events = 1000, .lost = 24, .error = "..."}), ...});
//
// A program that reads a trace learns from this what is lost (recorder_losses.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace traceloom::record {

struct RecorderCounts {
  std::uint64_t events = 0;     // in the file
  std::uint64_t dropped = 0;    // found no room in memory
  bool is_ring = false;         // dropped ones were meant to make room: a flight recorder
  std::uint64_t lost = 0;       // recorded, but the file could not have them
  std::uint64_t unnamed = 0;    // part of `events`: their markers have lost their names
  std::uint64_t recovered = 0;  // part of `events`: from a journal
  std::uint64_t damaged = 0;    // could not be read in a journal
  std::string error = {};       // why the file could not have the lost ones
  std::optional<std::int64_t> clock_error_ns = {};
};

// Returns {"events":1000,"dropped":0,"lost":24,"error":"No space left on
// device","clock_error_ns":7}.
std::string recorder_json(const RecorderCounts& counts);

}  // namespace traceloom::record
