#include "analysis/verdict/verdict.h"
#include "analysis/verdict/verdict_words.h"
#include "base/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

double bound_share(std::int64_t ns, const StepShare& share) {
  return StepShare{ns, share.of_ns, share.of}.share();
}

std::string not_measured(Limit limit, const LimitShare& share) {
  return fmt::format("{} cannot be measured: {}", limit_name(limit), share.unknown_since);
}

// The others wait for various ranks in turn, which is more than the wait for the straggler alone,
// if there is one.
GateResult exceeds_in_all(const Verdict& verdict) {
  const bool nobody = verdict.delays[Limit::straggler].ns == 0;
  return {
      GateAnswer::fails,
      fmt::format("straggler: the others wait {} for whichever rank comes last{}",
                  percent_text(verdict.measured_delay), nobody ? ", and no rank stands out" : "")};
}

GateResult judge_share(Limit limit, double most, const Verdict& verdict) {
  const LimitShare& share = verdict.shares[limit];
  const std::string cost = fmt::format("{} {}", limit_name(limit), cost_text(verdict, limit));
  const bool exceeds =
      std::max(bound_share(share.least_ns, share), verdict.delays[limit].share()) > most;
  if (exceeds) return {GateAnswer::fails, cost};
  if (limit == Limit::straggler && verdict.measured_delay.share() > most)
    return exceeds_in_all(verdict);
  if (share.unknown_since.empty() || (share.of_ns > 0 && bound_share(share.most_ns, share) <= most))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share)};
}

GateResult judge_verdict(Limit limit, const Verdict& verdict) {
  if (verdict.kind == limit) {
    const std::string cost =
        limit == Limit::inconclusive ? "" : fmt::format(": it {}", cost_text(verdict, limit));
    return {GateAnswer::fails, fmt::format("{} is the verdict{}", limit_name(limit), cost)};
  }
  const bool may_be = std::ranges::find(verdict.possible, limit) != verdict.possible.end();
  if (may_be)
    return {GateAnswer::unknown, fmt::format("{} may be the verdict, which is inconclusive: {}",
                                             limit_name(limit), verdict.why)};
  // The verdict considered the most that these two may take. Time without any event is not part of
  // it.
  const LimitShare& share = verdict.shares[limit];
  const bool is_weighed =
      ((verdict.waiting_in != Limit::communication || verdict.untold.ns > 0) &&
       (limit == Limit::communication || limit == verdict.waiting_in)) ||
      (verdict.not_recorded.ns > 0 && std::ranges::find(kGapLimits, limit) != kGapLimits.end());
  if (share.unknown_since.empty() || (share.of_ns > 0 && is_weighed))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share)};
}

// The unknown part of the limit's time may be gained, too.
GateResult judge_gain(Limit limit, double most, const Verdict& verdict) {
  const StepShare& gain = verdict.gains[limit];
  const LimitShare& share = verdict.shares[limit];
  if (gain.share() > most)
    return {GateAnswer::fails, fmt::format("gain:{}: without it at most {} would be saved",
                                           limit_name(limit), percent_text(gain))};
  const double unknown = bound_share(saturating_subtract(share.most_ns, share.ns), share);
  if (share.unknown_since.empty() || gain.share() + unknown <= most)
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, "gain:" + not_measured(limit, share)};
}

GateResult judge_time(const LimitGate& gate, const Verdict& verdict) {
  if (gate.of_gain) return judge_gain(gate.limit, *gate.share, verdict);
  return gate.share ? judge_share(gate.limit, *gate.share, verdict)
                    : judge_verdict(gate.limit, verdict);
}

}  // namespace

GateResult judge(const LimitGate& gate, const Verdict& verdict) {
  GateResult result = judge_time(gate, verdict);
  const bool is_of_gaps = std::ranges::find(kGapLimits, gate.limit) != kGapLimits.end();
  if (result.answer == GateAnswer::passes && verdict.is_left_out && is_of_gaps)
    return {GateAnswer::unknown,
            fmt::format("{} cannot be measured: {}", limit_name(gate.limit), verdict.why)};
  return result;
}

}  // namespace traceloom
