// TimeSelection: a piece of a run, on the clock that all ranks share, and what it is in each file's
// time.
//
//   TimeSelection selection{.from_ns = 1'500'000'000, .to_ns = 2'000'000'000};   // 1.5 s to 2 s
//   std::vector<TimeWindow> windows = find_windows(inputs, selection, {});
//   windows[file].contains(start_ns)
#pragma once

#include "clock/time_map.h"
#include "input/input_list.h"
#include "scan/scan_files.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// Nanoseconds after the earliest event of all files on the common clock, which is time 0 of their
// merge; [from_ns, to_ns). E events are no candidates for the earliest: one that comes first has
// lost its B, and a merge drops it.
struct TimeSelection {
  std::optional<std::int64_t> from_ns;  // none: from the beginning
  std::optional<std::int64_t> to_ns;    // none: to the end

  // "1.5s:2s", ":500ms" or "1.5s:" -> selection; nullopt when it is none of these, or ends before
  // it begins.
  static std::optional<TimeSelection> parse(std::string_view text);
};

// Asked by one file's own times; half-open.
struct TimeWindow {
  TimeMap times = TimeMap();  // of the file, to the time in which the window is
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool contains(std::int64_t start_ns) const {
    std::int64_t ns = 0;
    return times.map(start_ns, ns) && ns >= from_ns && ns < to_ns;
  }
};

// Reads all files once, for their clocks (survey/clock_plan.h); one window a file. A file that
// cannot be read throws its Error, or with `keep_going` gets an empty guess: it is left to the next
// reading.
std::vector<TimeWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options);

}  // namespace traceloom
