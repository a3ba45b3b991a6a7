// Clocks from collectives and messages: what these allow for all clocks together.
#pragma once

#include "clock/clock_syncs.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

// slope_of, fit_pair: compare two clocks by the collectives and messages of both ranks.
//
//   std::vector<PairedRound> rounds = {...};                  // clock b relative to clock a

struct PairedRound {
  std::int64_t at_ns = 0;      // its end on clock a
  std::int64_t ends_ns = 0;    // its end on clock b minus its end on clock a
  ClockRange ahead = {};       // lead of b over a that this round allows
  std::int64_t length_ns = 0;  // length of the shorter of the two parts
  std::int64_t moving_ns = 0;  // length of the shortest of all parts: its rank did not wait
};

// The rate by which one clock runs faster than another, as a share of the time, and its possible
// error; or what the ends show instead of a rate at which clocks run.
struct ClockSlope {
  double slope = 0;
  double uncertainty = 0;
  double excess = 0;         // not 0 for a rate that is greater than clocks have
  std::int64_t jump_ns = 0;  // not 0 for a clock that was set: the ends are farther apart from one
                             // moment on
};

// Computes the median of the slopes between any two of the shortest rounds that are at least 5 ms
// apart (Theil-Sen). The slope is 0, and the uncertainty is the greatest drift of clocks
// (kMaxDriftPpm), in these cases:
// - The ends scatter too much, are too few or too close together.
// - Clocks cannot drift so fast.
// - A jump explains the ends of the collectives that move least at least four times as well as a
//   slope does.
ClockSlope slope_of(const std::vector<PairedRound>& rounds);

struct PairFit {
  ClockRange ahead = {std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max()};  // range that all rounds allow
  // The median difference of the ends. It uses the shortest tenth of the rounds, at least seven,
  // but no round that moves data four times as long as the shortest: the longer that takes, the
  // farther apart are the ends.
  std::int64_t ends_ns = 0;
  std::int64_t scatter_ns = 0;  // distance from the median that 95 % of these ends do not exceed
  std::int64_t residual_p50_ns = 0;  // distance of the ends of all rounds from the median
  std::int64_t residual_p95_ns = 0;
  std::int64_t moving_ns = 0;  // length of the shortest collective
  // The median difference of the ends in the first tenth of the rounds, by time, and in the last
  // one.
  std::int64_t first_ends_ns = 0;
  std::int64_t last_ends_ns = 0;
  // True for a contradiction if each of a few stretches of time holds together, as where a clock
  // was set.
  bool was_set = false;
  // The distance between the ends of the two rounds that contradict each other most; 0 without a
  // contradiction.
  std::int64_t change_ns = 0;

  // True if two clocks that only run cannot have given these rounds.
  bool is_contradiction() const { return ahead.low_ns > ahead.high_ns; }
};

// `rounds` must not be empty.
PairFit fit_pair(const std::vector<PairedRound>& rounds);

// fit_clocks: computes clocks from the collectives and messages of ranks: how far each clock is
// ahead of one of them, the possible error, or why it cannot be computed.
//
//   std::vector<CollectiveRound> rounds = {{.parts = {{0, 100, 200}, {1, 1'150, 1'203}}}};
//   fit_clocks(2, 0, 150, rounds)[1].ahead_ns == 1'003            // by the ends
//   fit_clocks(2, 0, 150, rounds)[1].ahead == ClockRange{950, 1'103}

// The times at which a rank entered and left, on its clock. Both are is_usable_stamp(), and the end
// is not before the begin.
struct RoundPart {
  std::size_t clock = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

struct CollectiveRound {
  std::vector<RoundPart> parts;  // at most one a clock; for a message the sender comes first
  bool is_message = false;       // false for a collective, which no rank leaves before all have
                                 // entered
  // False if the parts do not name their group: they may belong to several groups and be matched
  // wrongly.
  bool names_group = true;
};

struct CollectiveFit {
  enum class Outcome : std::uint8_t {
    reference,
    fitted,
    contradiction,  // running clocks alone could not have shown it: a clock was set, or runs much
                    // faster than clocks do
    unconnected,    // no collectives or messages lead to the reference
  };
  Outcome outcome = Outcome::unconnected;
  std::size_t partner = 0;  // the clock with which it was compared; may be the reference
  // The lead over the reference in the middle: the estimate, within `ahead`. For a contradiction,
  // at the end.
  std::int64_t ahead_ns = 0;
  ClockRange ahead = {};  // the range that all rounds allow
  std::int64_t residual_p50_ns = 0;
  std::int64_t residual_p95_ns = 0;
  // The least error that can be claimed: 3 % of the shortest collective.
  std::int64_t least_error_ns = 0;
  // The ends that gave the estimate are so far apart. A bound that is less would be a bluff.
  std::int64_t scatter_ns = 0;
  // The rate by which it runs faster than the reference, and the possible error of that rate.
  double slope = 0;
  double slope_error = 0;
  std::int64_t change_ns = 0;    // for a contradiction: about how far the clock was set
  bool is_least_change = false;  // change_ns is the least amount that the ranges allow for
  // For a contradiction: at the end the clock is as at the begin, or as that of the reference, so
  // that no other offset is better.
  bool came_back = false;
  // True for a contradiction if each of a few stretches of time holds together. Else collectives
  // may have been matched wrongly.
  bool was_set = false;
  // The clock runs faster than the reference at this rate, which is greater than clocks have; 0 if
  // it does not. Such a clock was not set.
  double excess_slope = 0;

  // Returns the possible error of a clock if its lead is assumed to be `taken_ns`.
  std::int64_t error_ns(std::int64_t taken_ns) const;
  std::int64_t bound_ns() const { return error_ns(ahead_ns); }
};

// Returns one fit a clock. `middle_ns`, on the reference, is the moment for which the leads hold.
// 1. Slopes are removed first, as far as they can be computed; the range on both sides of each
//    round allows for the rest.
// 2. Each clock is compared with a clock that is already known, directly with the reference if they
//    have a collective in common.
// 3. Messages are used only for clocks without collectives; the estimate is then the middle of the
//    range.
// 4. If clocks contradict each other in a circle, the one without which the others fit is wrong,
//    else the one that was placed last.
std::vector<CollectiveFit> fit_clocks(std::size_t clocks, std::size_t reference,
                                      std::int64_t middle_ns,
                                      const std::vector<CollectiveRound>& rounds);

}  // namespace traceloom
