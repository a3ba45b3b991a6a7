// TimeSelection: a piece of a run, on the clock that all ranks share.
//
//   TimeSelection selection = TimeSelection::parse("1.5s:2s").value();
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace traceloom {

// The window [from_ns, to_ns) in nanoseconds after the earliest event of all files on the common
// clock, floored to a microsecond; that is time 0 of their merge. E events do not count as the
// earliest: an E that comes first has lost its B, and a merge drops it.
struct TimeSelection {
  std::optional<std::int64_t> from_ns;  // absent: from the beginning
  std::optional<std::int64_t> to_ns;    // absent: to the end

  // Parses "1.5s:2s", ":500ms" or "1.5s:"; nullopt if the text is none of these or ends before it
  // begins.
  static std::optional<TimeSelection> parse(std::string_view text);
};

// A half-open window of time.
struct TimeWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool contains(std::int64_t start_ns) const { return start_ns >= from_ns && start_ns < to_ns; }
};

}  // namespace traceloom
