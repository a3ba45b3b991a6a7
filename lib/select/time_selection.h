// TimeSelection: a piece of a run, on the clock that all ranks share.
//
//   TimeSelection selection = TimeSelection::parse("1.5s:2s").value();
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace traceloom {

// Nanoseconds after the earliest event of all files on the common clock, floored to a microsecond:
// after time 0 of their merge; [from_ns, to_ns). E events are no candidates for the earliest: one
// that comes first has lost its B, and a merge drops it.
struct TimeSelection {
  std::optional<std::int64_t> from_ns;  // none: from the beginning
  std::optional<std::int64_t> to_ns;    // none: to the end

  // "1.5s:2s", ":500ms" or "1.5s:" -> selection; nullopt when it is none of these, or ends before
  // it begins.
  static std::optional<TimeSelection> parse(std::string_view text);
};

// Half-open.
struct TimeWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool contains(std::int64_t start_ns) const { return start_ns >= from_ns && start_ns < to_ns; }
};

}  // namespace traceloom
