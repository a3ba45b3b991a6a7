// find_windows: what a piece of a run is in each file's time.
//
//   TimeSelection selection{.from_ns = 1'500'000'000, .to_ns = 2'000'000'000};   // 1.5 s to 2 s
//   std::vector<TimeWindow> windows = find_windows(inputs, selection, false, {});
//   windows[file].contains(start_ns)
#pragma once

#include "input/input_list.h"
#include "scan/scan_files.h"
#include "select/time_selection.h"

#include <vector>

namespace traceloom {

// Reads all files once, for their clocks (survey/clock_plan.h); one window a file. A file that
// cannot be read throws its Error, or with `keep_going` gets an empty guess: it is left to the next
// reading.
std::vector<TimeWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options);

}  // namespace traceloom
