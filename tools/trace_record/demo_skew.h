// The clocks of the demo's ranks, made to differ as those of different machines do: the ranks of
// the demo share one clock, so that what a merge makes of the skew can be compared with the truth.
#pragma once

#include "trace_record/demo_options.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// What a rank's clock shows at the true time t: t + offset_ns + drift_ppm / 10^6 * (t - since_ns).
struct ClockSkew {
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;
  std::int64_t since_ns = 0;
  std::string machine;  // a name for its boot: no two ranks are taken for one machine

  std::int64_t shown(std::int64_t true_ns) const;
};

ClockSkew skew_of(const DemoOptions& options, std::int64_t rank);

// One line of a trace of ours, with all its times as that clock would have shown them.
std::string skew_line(std::string_view line, const ClockSkew& skew);
// The whole file, which is plain text. Throws Error.
void skew_trace(const std::string& path, const ClockSkew& skew);

}  // namespace traceloom
