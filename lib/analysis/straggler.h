// Which rank the others wait for, and why.
//
//   const Straggler found = find_straggler(run, roles, find_waits(run, roles));
//   if (found.rank) use(*found.rank, found.cause);
#pragma once

#include "analysis/rank_waits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class StragglerCause : std::uint8_t {
  none,          // nobody is waited for much
  dataloader,    // it waits longer for its data
  compute,       // it computes longer
  clocks,        // the same kernels take longer: a slower device
  launch,        // its host is slower in giving work to the device
  memcpy,        // it copies more
  idle,          // it does longer nothing that was recorded
  inconclusive,  // the events cannot tell which rank, or why
};
std::string_view to_string(StragglerCause cause);

struct Straggler {
  std::optional<std::int64_t>
      rank;  // none where nobody stands out, or several cannot be told apart
  StragglerCause cause = StragglerCause::none;
  std::string_view confidence = "low";   // "high", "medium", "low"
  std::vector<std::int64_t> candidates;  // the ranks that the others wait for: one, or several
  // Of the delay: "persistent" (in nearly all steps for the same ranks), "sporadic" (for them in
  // some steps), "changing" (for another rank in each step, nobody stands out), or "none".
  std::string_view pattern = "none";
  std::int64_t changing_ns = 0;  // a step: what is waited for whichever rank comes last
  double waited_for_share = 0;   // of the steps in which one of these clearly came last
  std::int64_t delay_ns = 0;     // a step: what the others wait for them, at least
  double delay_share = 0;        // of the mean step
  std::string why;               // in words
};

// Said of the candidates: ranks that wait less than a quarter of what the next rank waits, at most
// half of all, with a difference of 10 % of the mean step; they are named when one of them came
// last, as clearly, in 80 % of at least two steps; in less than four steps only with a cause.
Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits);

}  // namespace traceloom
