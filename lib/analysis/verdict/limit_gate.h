// LimitGate: whether a limit of a run is below what somebody allows.
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
  std::optional<double> share = {};  // the most that is allowed; none: it must not be the verdict
};

enum class GateAnswer : std::uint8_t {
  passes,
  fails,
  unknown,  // the traces do not tell
};

struct GateResult {
  GateAnswer answer;
  std::string
      why;  // "data-loading takes 70.2 % of the mean step of 4 ranks"; of one that passes ""
};

// With a share: whether the limit may take that much of the steps, or of what others wait for it
// (Verdict::delays; of a straggler Verdict::measured_delay, too). Without: an inconclusive verdict
// passes where the limit is too small to be it.
GateResult judge(const LimitGate& gate, const Verdict& verdict);

}  // namespace traceloom
