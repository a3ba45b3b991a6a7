// LimitGate: decides whether a limit of a run is below an allowed value.
//
//   const GateResult result = judge({Limit::data_loading, 0.05}, verdict);
//   if (result.answer == GateAnswer::fails) fmt::print("{}\n", result.why);
#pragma once

#include "analysis/verdict/verdict.h"

#include <cstdint>
#include <optional>
#include <string>

namespace traceloom {

struct LimitGate {
  Limit limit;
  std::optional<double> share = {};  // the most that is allowed; without it the limit must not be
                                     // the verdict
  bool of_gain = false;              // with a share: of the gain, not of the limit's time
};

enum class GateAnswer : std::uint8_t {
  passes,
  fails,
  unknown,  // the traces do not show it
};

struct GateResult {
  GateAnswer answer;
  std::string
      why;  // "data-loading takes 70.2 % of the mean step of 4 ranks"; "" if the gate passes
};

// Decides, with a share, whether the limit may take that much of the steps, or of the time that
// others wait for it (Verdict::delays, and Verdict::measured_delay for a straggler). Without a
// share: an inconclusive verdict passes if the limit is too small to be it.
GateResult judge(const LimitGate& gate, const Verdict& verdict);

}  // namespace traceloom
