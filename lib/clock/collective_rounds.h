// Clocks by the collectives and messages that ranks took part in: how far each clock is ahead of
// one of them, how far that may be off, or why it cannot be told.
//
//   std::vector<CollectiveRound> rounds = {{.parts = {{0, 100, 200}, {1, 1'150, 1'203}}}};
//   fit_clocks(2, 0, 150, rounds)[1].ahead_ns == 1'003            // by the ends
//   fit_clocks(2, 0, 150, rounds)[1].ahead == ClockRange{950, 1'103}
#pragma once

#include "clock/sync_rounds.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// When a clock says that its rank entered and left; both is_usable_stamp(), the end not before the
// begin.
struct RoundPart {
  std::size_t clock = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

struct CollectiveRound {
  std::vector<RoundPart> parts;  // by clock, none twice; of a message the sender comes first
  bool is_message = false;       // else nobody left before all had entered
  // Those who had a part in it say of which group it was: else it may be several, matched wrongly.
  bool names_group = true;
};

struct CollectiveFit {
  enum class Outcome : std::uint8_t {
    reference,
    fitted,
    contradiction,  // nothing that only runs could have shown it: a clock was set
    unconnected,    // no collectives or messages lead to the reference
  };
  Outcome outcome = Outcome::unconnected;
  std::size_t partner = 0;  // the clock that it was compared with, which may be the reference
  // Of the reference, in the middle: the estimate, within `ahead`. Of a contradiction at the end.
  std::int64_t ahead_ns = 0;
  ClockRange ahead = {};  // that all rounds allow for
  std::int64_t residual_p50_ns = 0;
  std::int64_t residual_p95_ns = 0;
  // What nothing better can be claimed than: 3 % of the shortest collective.
  std::int64_t least_error_ns = 0;
  // How much faster it runs than the reference, and how far that may be off.
  double slope = 0;
  double slope_error = 0;
  std::int64_t change_ns = 0;  // of a contradiction: how far the clock was set, or nearly so
  // Of a contradiction: each of a few stretches of time holds together. Else collectives may have
  // been matched wrongly.
  bool was_set = false;

  // How far a clock may be off that is taken to be so much ahead.
  std::int64_t error_ns(std::int64_t taken_ns) const;
  std::int64_t bound_ns() const { return error_ns(ahead_ns); }
};

// One a clock; `middle_ns`, on the reference, is the moment that all is about. Slopes are taken out
// first, as far as they can be told, and what is left of them is allowed for on both sides of each
// round. Each clock is compared with one that is known already, directly with the reference where
// they have a collective in common, and goes by messages alone where there is nothing else: then
// the estimate is the middle of the range.
std::vector<CollectiveFit> fit_clocks(std::size_t clocks, std::size_t reference,
                                      std::int64_t middle_ns,
                                      const std::vector<CollectiveRound>& rounds);

}  // namespace traceloom
