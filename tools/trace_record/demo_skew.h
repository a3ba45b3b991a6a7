// Makes the clocks of the demo's ranks differ like those of different machines. The ranks really
// share one clock, so the result of a merge can be compared with the truth.
#pragma once

#include "trace_record/demo_options.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// A clock that shows t + offset_ns + drift_ppm / 10^6 * (t - since_ns) at the true time t.
struct ClockSkew {
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;
  std::int64_t since_ns = 0;
  std::string machine;  // a boot id, so that each rank counts as a machine of its own

  std::int64_t shown(std::int64_t true_ns) const;
};

ClockSkew skew_of(const DemoOptions& options, std::int64_t rank);

// Returns a line of a trace of our recorder with all its times as that clock shows them.
std::string skew_line(std::string_view line, const ClockSkew& skew);
// Rewrites the whole file, which is plain text. Throws Error.
void skew_trace(const std::string& path, const ClockSkew& skew);

}  // namespace traceloom
