// `trace-stats longest`: shows the longest spans of all ranks.
#pragma once

#include "analysis/report.h"

#include <cstddef>

namespace traceloom {

struct LongestOptions {
  std::size_t top = 20;
};

// The run holds the spans that surround others if its request says `frames`.
Report longest_report(const Run& run, const LongestOptions& options);

}  // namespace traceloom
