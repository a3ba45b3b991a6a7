// Two clocks, by the collectives and messages that both had a part in.
//
//   std::vector<PairedRound> rounds = {...};                  // b beside a
//   const ClockSlope slope = slope_of(rounds);                // how much faster b runs
//   const PairFit fit = fit_pair(rounds);                     // once the slopes are taken out
//
// Nobody leaves a collective before all have entered it, and nothing is received before it is sent.
// And all leave a collective at nearly one time, which a message does not promise.
#pragma once

#include "clock/sync_rounds.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

struct PairedRound {
  std::int64_t at_ns = 0;      // its end on clock a
  std::int64_t ends_ns = 0;    // its end on clock b, less that on clock a
  ClockRange ahead = {};       // b of a, as far as this round allows for
  std::int64_t length_ns = 0;  // the shorter of the two parts
  std::int64_t moving_ns = 0;  // the shortest of all parts: nobody waited there
};

// How much faster a clock runs than another, as a share of the time, and how far that may be off.
struct ClockSlope {
  double slope = 0;
  double uncertainty = 0;
};

// By the middle of the slopes between all two rounds that are 5 ms and more apart (Theil-Sen), of
// the shortest. Where the ends are too far apart, too few or too near to tell, or clocks do not
// part so fast, the slope is 0 and the uncertainty what clocks may drift (kMaxDriftPpm).
ClockSlope slope_of(const std::vector<PairedRound>& rounds);

struct PairFit {
  ClockRange ahead = {std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max()};  // that all rounds allow for
  // The middle of the differences of ends, of the shortest tenth of the rounds, or of the shortest
  // seven where these are more, but of none that moves data four times as long as the shortest:
  // ends are the farther apart the longer that takes.
  std::int64_t ends_ns = 0;
  std::int64_t residual_p50_ns = 0;  // of all rounds, how far the ends are from that
  std::int64_t residual_p95_ns = 0;
  std::int64_t moving_ns = 0;  // the shortest collective
  // The middle of the differences of ends of the first tenth, by time, and of the last one.
  std::int64_t first_ends_ns = 0;
  std::int64_t last_ends_ns = 0;
  // Of a contradiction: each of a few stretches of time holds together, as where a clock was set.
  bool was_set = false;

  // No two clocks that only run could have shown this.
  bool is_contradiction() const { return ahead.low_ns > ahead.high_ns; }
};

// `rounds` is not empty.
PairFit fit_pair(const std::vector<PairedRound>& rounds);

}  // namespace traceloom
