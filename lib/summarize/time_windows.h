// find_windows: converts a piece of a run into a window on each file's own clock.
//
//   TimeSelection selection{.from_ns = 1'500'000'000, .to_ns = 2'000'000'000};   // 1.5 s to 2 s
//   std::vector<FileWindow> windows = find_windows(inputs, selection, false, {});
//   windows[file].contains(start_ns)
#pragma once

#include "clock/time_map.h"
#include "input/input_list.h"
#include "scan/scan_files.h"
#include "select/time_selection.h"
#include "team/team.h"

#include <cstdint>
#include <vector>

namespace traceloom {

// A window that is queried with a file's own times.
struct FileWindow {
  TimeMap times = TimeMap();  // maps the file's times to the clock of `window`
  TimeWindow window = {};

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(times, window);
  }

  bool contains(std::int64_t start_ns) const {
    std::int64_t ns = 0;
    return times.map(start_ns, ns) && window.contains(ns);
  }
};

// Reads all files once, for their clocks (clock_plan.h); one window a file. A file that
// cannot be read throws its Error, or with `keep_going` gets an empty guess: it is left to the next
// reading, as is a file whose events others hold as well (repeats.h). Each process of the team
// reads the files in `options` and gets all windows.
std::vector<FileWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options, Team& team);

}  // namespace traceloom
