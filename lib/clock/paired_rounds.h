// slope_of, fit_pair: compare two clocks by the collectives and messages of both ranks.
//
//   std::vector<PairedRound> rounds = {...};                  // clock b relative to clock a
#pragma once

#include "clock/clock_syncs.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

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

}  // namespace traceloom
