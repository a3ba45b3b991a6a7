// Intervals: sets of instants and their exact arithmetic, in whole nanoseconds.
//
//   Intervals busy = unite({{0, 10}, {5, 20}});          // {{0, 20}}
//   total_ns(subtract(busy, {{8, 12}}))                  // 16
//
// A set is a list of half-open intervals [from, to), ascending, that neither overlap nor touch; all
// functions but unite() take such sets and all give them. Linear in the intervals of both sets.
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

// What does not fit is cut to what does.
inline std::int64_t length_ns(const Interval& piece) {
  return saturating_subtract(piece.to_ns, piece.from_ns);
}

using Intervals = std::vector<Interval>;

// The instants that any of `pieces` holds, which may stand in any order, overlap, or be empty.
Intervals unite(Intervals pieces);

Intervals intersect(const Intervals& a, const Intervals& b);
// What is in `a` and not in `b`.
Intervals subtract(const Intervals& a, const Intervals& b);

// How many instants are in the set; what does not fit is cut to what does.
std::int64_t total_ns(const Intervals& set);

// How many instants of a set are in any window; fast where a window is not far behind the last one.
// The set must outlive it.
class IntervalLengths {
 public:
  explicit IntervalLengths(const Intervals& set);

  std::int64_t in(const Interval& window) {
    return window.to_ns > window.from_ns ? until(window.to_ns) - until(window.from_ns) : 0;
  }

 private:
  std::int64_t until(std::int64_t ns);

  const Intervals& set_;
  std::vector<std::int64_t> before_;  // of the intervals before each
  std::size_t place_ = 0;             // the interval that the last window ended in, or before
};

// How many instants of `set` are in each of `windows`, which ascend and do not overlap but may
// touch or be empty.
std::vector<std::int64_t> totals_in(const Intervals& set, const Intervals& windows);

}  // namespace traceloom
