// Sets of instants, with exact arithmetic, and in few bytes.
#pragma once

#include "base/arithmetic.h"
#include "base/packed_rows.h"

#include <cstdint>
#include <vector>

namespace traceloom {

// Intervals: sets of instants and exact arithmetic on them, in whole nanoseconds.
//
//   Intervals busy = unite({{0, 10}, {5, 20}});          // {{0, 20}}
//   total_ns(subtract(busy, {{8, 12}}))                  // 16
//
// A set is a list of half-open intervals [from, to), ascending, that neither overlap nor touch. All
// functions except unite() require such sets, and all return them. They are linear in the intervals
// of both sets.

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
  std::size_t place_ = 0;             // where the last window ended, or the one before
};

// Returns the number of instants of `set` in each of `windows`, which ascend and do not overlap but
// may touch or be empty.
std::vector<std::int64_t> totals_in(const Intervals& set, const Intervals& windows);

// PackedIntervals: a set of instants (run/intervals.h) in few bytes, for sets of millions of
// intervals.
//
//   IntervalPacker packer;
//   rank.for_each_host([&](const HostSpan& span) { packer.add(span.interval()); });
//   const PackedIntervals busy = packer.finish();
//
//   IntervalWindows windows(busy);
//   total_ns(windows.in({0, 1'000'000}));                      // then a later window

template <>
struct RowCodec<Interval> {
  static constexpr std::size_t kMostBytes = 1 + 2 * kMostNumberBytes;

  static void write(PackedWriter& to, const Interval& before, const Interval& row) {
    const std::int64_t gap_ns = wrapped_difference(row.from_ns, before.to_ns);
    const std::int64_t length_ns = wrapped_difference(row.to_ns, row.from_ns);
    const std::int64_t unit = unit_of(gap_ns, length_ns);
    to.byte(unit == 1 ? 0 : 1);
    to.signed_number(gap_ns / unit);
    to.signed_number(length_ns / unit);
  }
  static void read(PackedReader& from, Interval& row) {
    const std::int64_t unit = from.byte() == 0 ? 1 : 1000;
    row.from_ns = wrapped_sum(row.to_ns, from.signed_number() * unit);
    row.to_ns = wrapped_sum(row.from_ns, from.signed_number() * unit);
  }
};

// The intervals ascend and neither overlap nor touch.
using PackedIntervals = PackedRows<Interval>;

// Builds the set of the instants that are in any interval. Intervals may come in any order; each
// interval that does not come in order of its begin takes 16 bytes until finish().
class IntervalPacker {
 public:
  void add(const Interval& piece);
  PackedIntervals finish();

 private:
  PackedIntervals packed_;
  Interval last_;  // the interval after those in packed_; empty if there is none
  Intervals late_;
};

// Reads a set in one window of time after another. The set must outlive it.
class IntervalWindows {
 public:
  explicit IntervalWindows(const PackedIntervals& set) : next_(set.begin()), end_(set.end()) {}

  // Returns the whole intervals that have an instant in `window`. The window must not begin before
  // the previous one. Valid until the next call.
  const Intervals& in(const Interval& window);

 private:
  PackedIntervals::Iterator next_;
  PackedIntervals::Iterator end_;
  Intervals found_;
};

Intervals unpacked(const PackedIntervals& set);
std::int64_t total_ns(const PackedIntervals& set);

}  // namespace traceloom
