// ClockRanges: computes how far clocks may be ahead of each other from limits for pairs of clocks:
// a limit from a to b and one from b to c give one from a to c.
//
//   ClockRanges ranges(3);
//   ranges.limit(0, 1, 50);                  // clock 1 is at most 50 ns ahead of clock 0
//   ranges.limit(1, 0, 10);                  // and at most 10 ns slow against it
#pragma once

#include "clock/sync_rounds.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

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

}  // namespace traceloom
