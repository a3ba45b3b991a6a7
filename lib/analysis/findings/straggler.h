// find_straggler: finds the rank for which the others wait, and the cause.
//
//   const Straggler found = find_straggler(run, roles, find_waits(run, roles));
//   if (found.rank) use(*found.rank, found.cause);
#pragma once

#include "analysis/numbers.h"
#include "analysis/waits/rank_waits.h"
#include "base/by_enum.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// A delay is steady if it happens in this share of the steps.
inline constexpr double kSteadyShare = 0.80;

enum class StragglerCause : std::uint8_t {
  none,           // the others wait for no rank by much
  dataloader,     // it waits longer for its data
  compute,        // it computes longer
  slower_device,  // the same kernels take longer, as on a device that is clocked down
  launch,         // its host is slower in giving work to the device
  memcpy,         // it copies more
  idle,           // it does longer nothing that was recorded
  inconclusive,   // the events do not show which rank it is, or why
};
constexpr std::string_view to_string(StragglerCause cause) {
  return name_in({"none", "dataloader", "compute", "slower device", "launch", "memcpy", "idle",
                  "inconclusive"},
                 cause);
}

enum class DelayPattern : std::uint8_t {
  none,        // the others wait for no rank by much, or there is only one step
  persistent,  // the same ranks in nearly all steps
  sporadic,    // the same ranks in some steps
  changing,    // one rank or another
};
constexpr std::string_view to_string(DelayPattern pattern) {
  return name_in({"none", "persistent", "sporadic", "changing"}, pattern);
}

// The ranks that came last most often, whether that makes them stragglers or not.
struct LastRanks {
  // The ranks, several if equally often; empty if no rank was waited for.
  std::vector<std::int64_t> ranks;
  std::size_t times = 0;      // number of steps in which each of them was last
  std::size_t steps = 0;      // number of steps that were compared
  std::int64_t delay_ns = 0;  // wait of the others for the first of them, a step
  bool is_by_chance = true;   // true if at least 1 of 100 runs has such a rank by chance
};

struct Straggler {
  std::optional<std::int64_t> rank;  // absent if no rank stands out, or several cannot be separated
  StragglerCause cause = StragglerCause::none;
  std::string_view confidence = "low";   // "high", "medium", "low"
  std::vector<std::int64_t> candidates;  // the ranks for which the others wait: one, or several
  bool each_of_them = false;             // others wait for each of them; otherwise for one of them,
                                         // or all are equal
  DelayPattern pattern = DelayPattern::none;
  std::int64_t measured_ns = 0;  // wait for the rank that comes last in each step, a step
  std::int64_t step_ns = 0;      // length of the mean step, to which all shares refer
  LastRanks last;
  std::int64_t changing_ns = 0;  // measured_ns if no rank stands out and it is much, otherwise 0
  // Share of the steps in which one of these came last, as in RankWaits::times_last(). If they
  // cannot be separated, it counts the steps in which all others clearly waited longer.
  double waited_for_share = 0;
  std::int64_t delay_ns = 0;  // least wait of the others for them, a step
  bool delay_is_gap = false;  // delay_ns is what others wait longer, not RankWaits::delay_ns
  bool is_gain = false;       // delay_ns is what the job would gain, by a replay
  std::string gain_words;     // what would gain it, or more together with others
  double delay_share = 0;     // share of the mean step
  bool is_small = false;      // less than 10 % of the mean step, but in nearly all steps
  std::string why;            // the cause in words

  bool holds_up_by_much() const { return rank.has_value() && !is_small; }
};

// Returns the candidates as "rank 2", "ranks 0 or 2", "ranks 1 and 2".
std::string rank_list(const Straggler& found);

// Uses the first of these rules that finds a rank:
// 1. Candidates are ranks that wait less than a quarter of the next rank's waits, at most half of
//    all ranks, with a difference of 10 % of the mean step; of several, those for which others wait
//    that long, if there are any. A single candidate is named if it came last, as clearly and by 5
//    % of a mean step, in 80 % of at least two steps; with less than four steps only if it has a
//    cause other than idle. A candidate that came last in some of at least ten steps is named if it
//    has a cause and 80 % of all delays are its own.
// 2. If there are no candidates, for example because other ranks wait for none in groups of their
//    own: ranks for which others wait 10 % of the mean step, on average and in 80 % of at least
//    four steps, each with a cause. Otherwise the rank to which 80 % of all delays in at least ten
//    steps belong, with a cause.
// 3. A rank that comes last in 80 % of at least four steps by 1 % of the mean step is reported
//    (is_small). It is named if that is more often than by chance: if all ranks came last at
//    random, in less than 1 of 100 runs a rank would do so.
//
// If the ranks of a mesh do different parts of the work (Mesh::splits_model()), these rules would
// name the ranks of a slow stage. Then ranks are named that hold up the job by a replay
// (WhatIf::odd()); if it cannot be replayed, `why` has the reason. Where all do the same, the
// replay tells apart candidates that these rules do not.
Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits);

// Fills in the cause and why of `found`, whose delay it explains: the role in which the rank's own
// work takes longer than that of the others. `rank` is an index into `waits`.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found);

// straggler_headline: writes the text that `stragglers` prints above its table; the table has all
// its figures.
//
//   report.headline.push_back(straggler_headline(find_straggler(run, roles, waits)));

// Delays, shares of steps and numbers of steps are those of the table: "Delay/step" and "Last", or
// the excess of the others' "Wait/step", which the text then names. If no rank is named, the text
// still gives the size of the measured delay, and the reason.
std::string straggler_headline(const Straggler& found);

}  // namespace traceloom
