// Intervals: sets of instants and exact arithmetic on them, in whole nanoseconds.
//
//   Intervals busy = unite({{0, 10}, {5, 20}});          // {{0, 20}}
//   total_ns(subtract(busy, {{8, 12}}))                  // 16
//
// A set is a list of half-open intervals [from, to), ascending, that neither overlap nor touch. All
// functions except unite() require such sets, and all return them. They are linear in the intervals
// of both sets.
#pragma once

#include "base/saturating.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct Interval {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  bool operator==(const Interval&) const = default;
};

// Returns the length; a length that does not fit is cut to the limit of int64.
inline std::int64_t length_ns(const Interval& piece) {
  return saturating_subtract(piece.to_ns, piece.from_ns);
}

using Intervals = std::vector<Interval>;

// Returns the instants that are in any of `pieces`, which may have any order, overlap, or be empty.
Intervals unite(Intervals pieces);

Intervals intersect(const Intervals& a, const Intervals& b);
// Returns the instants that are in `a` and not in `b`.
Intervals subtract(const Intervals& a, const Intervals& b);

// Returns the number of instants (ns) in the set; a number that does not fit is cut to the limit of
// int64.
std::int64_t total_ns(const Intervals& set);

// Returns the number of instants of a set that are in a window. It is fast if a window is not far
// before the previous one. The set must outlive it.
class IntervalLengths {
 public:
  explicit IntervalLengths(const Intervals& set);

  std::int64_t in(const Interval& window) {
    return window.to_ns > window.from_ns ? until(window.to_ns) - until(window.from_ns) : 0;
  }

 private:
  std::int64_t until(std::int64_t ns);

  const Intervals& set_;
  std::vector<std::int64_t> before_;  // instants in all intervals before each interval
  std::size_t place_ = 0;             // the interval in which the last window ended, or the one
                                      // before
};

// Returns the number of instants of `set` in each of `windows`, which ascend and do not overlap but
// may touch or be empty.
std::vector<std::int64_t> totals_in(const Intervals& set, const Intervals& windows);

}  // namespace traceloom
