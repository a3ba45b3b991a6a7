// Which rank the others wait for, and why.
//
//   const Straggler found = find_straggler(run, roles, find_waits(run, roles));
//   if (found.rank) use(*found.rank, found.cause);
#pragma once

#include "analysis/waits/rank_waits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// A rank is named in fewer steps only with a cause.
inline constexpr std::size_t kFewSteps = 4;
// A delay is steady when it happens in so many of the steps.
inline constexpr double kSteadyShare = 0.80;

enum class StragglerCause : std::uint8_t {
  none,          // nobody is waited for much
  dataloader,    // it waits longer for its data
  compute,       // it computes longer
  clocks,        // the same kernels take longer, as on a device that is clocked down
  launch,        // its host is slower in giving work to the device
  memcpy,        // it copies more
  idle,          // it does longer nothing that was recorded
  inconclusive,  // the events cannot tell which rank, or why
};
std::string_view to_string(StragglerCause cause);

enum class DelayPattern : std::uint8_t {
  none,        // nobody is waited for much, or one step is all there is
  persistent,  // in nearly all steps for the same ranks
  sporadic,    // for them in some steps
  changing,    // for one rank or another
};
std::string_view to_string(DelayPattern pattern);

// Who came last most often, whether that makes a straggler or not.
struct LastRanks {
  std::vector<std::int64_t>
      ranks;                  // several that did so as often; empty where nobody was waited for
  std::size_t times = 0;      // each of them
  std::size_t steps = 0;      // that were compared
  std::int64_t delay_ns = 0;  // a step: what the others wait for the first of them
  bool is_by_chance = true;   // 1 of 100 runs and more have such a one at random
};

struct Straggler {
  std::optional<std::int64_t>
      rank;  // none where nobody stands out, or several cannot be told apart
  StragglerCause cause = StragglerCause::none;
  std::string_view confidence = "low";   // "high", "medium", "low"
  std::vector<std::int64_t> candidates;  // the ranks that the others wait for: one, or several
  bool each_of_them = false;             // each is waited for; else one of them, or all alike
  DelayPattern pattern = DelayPattern::none;
  std::int64_t measured_ns = 0;  // a step: what is waited for whichever rank comes last
  std::int64_t step_ns = 0;      // the mean step, of which all shares are
  LastRanks last;
  std::int64_t changing_ns = 0;  // measured_ns where nobody stands out and it is much, else 0
  double changing_share = 0;     // of the mean step
  // Of the steps in which one of these came last, as RankWaits::times_last() has it; where they are
  // not told apart, those in which all others clearly waited longer.
  double waited_for_share = 0;
  std::int64_t delay_ns = 0;  // a step: what the others wait for them, at least
  bool delay_is_gap = false;  // that is how much longer others wait, not RankWaits::delay_ns
  double delay_share = 0;     // of the mean step
  bool is_small = false;      // less than 10 % of it, but in nearly all steps
  std::string why;            // in words

  bool holds_up_by_much() const { return rank.has_value() && !is_small; }
};

// "rank 2", "ranks 0 or 2", "ranks 1 and 2": the candidates.
std::string rank_list(const Straggler& found);

// Said of the candidates: ranks that wait less than a quarter of what the next rank waits, at most
// half of all, with a difference of 10 % of the mean step; of several those that are waited for so
// long, if there are any. One is named when it came last, as clearly and by 5 % of a mean step, in
// 80 % of at least two steps; in less than four only with a cause other than idle. One that came
// last in some of at least ten steps is named with a cause, when 80 % of all delays are its own.
//
// Where there are none such, as when others that wait for nobody are in groups of their own: ranks
// for which others wait 10 % of the mean step, on average and in 80 % of at least four steps, each
// with a cause; else the one of at least ten steps that 80 % of all delays are for, with a cause.
//
// Else one that comes last in 80 % of at least four steps by 1 % of the mean step is told
// (is_small), and named where that is more often than by chance: of ranks that come last at random
// some one does so in less than 1 of 100 runs.
Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits);

}  // namespace traceloom
