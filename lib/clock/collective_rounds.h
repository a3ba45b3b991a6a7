// Clocks from collectives and messages: what these allow for each pair of clocks and for all
// together.
#pragma once

#include "clock/clock_syncs.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// ClockRanges: computes how far clocks may be ahead of each other from limits for pairs of clocks:
// a limit from a to b and one from b to c give one from a to c.
//
//   ClockRanges ranges(3);
//   ranges.limit(0, 1, 50);                  // clock 1 is at most 50 ns ahead of clock 0
//   ranges.limit(1, 0, 10);                  // and at most 10 ns slow against it

class ClockRanges {
 public:
  explicit ClockRanges(std::size_t clocks);

  // Clock b is at most `ahead_ns` ahead of clock a.
  void limit(std::size_t a, std::size_t b, std::int64_t ahead_ns);
  // Removes all limits of that clock.
  void forget(std::size_t clock);

  struct Found {
    // The lead of each clock over `clock`, by the shortest paths; the numeric limits if no path
    // exists.
    std::vector<ClockRange> ahead;
    // Clocks that contradict each other, in a circle; `ahead` then has no meaning.
    std::vector<std::size_t> contradiction;
  };
  Found from(std::size_t clock) const;

 private:
  struct Lengths {
    std::vector<std::int64_t> ns;
    std::vector<std::size_t> circle;
  };
  std::int64_t most(std::size_t a, std::size_t b, bool is_turned) const {
    return is_turned ? most_[b * clocks_ + a] : most_[a * clocks_ + b];
  }
  Lengths shortest(std::size_t from, bool is_turned) const;

  std::size_t clocks_;
  std::vector<std::int64_t> most_;  // indexed by a and b
};

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
