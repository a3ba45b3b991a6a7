// PackedIntervals: a set of instants (run/intervals.h) in few bytes, for sets of millions of
// intervals.
//
//   IntervalPacker packer;
//   rank.for_each_host([&](const HostSpan& span) { packer.add(span.interval()); });
//   const PackedIntervals busy = packer.finish();
//
//   IntervalWindows windows(busy);
//   total_ns(windows.in({0, 1'000'000}));                      // then a later window
#pragma once

#include "base/packed_rows.h"
#include "run/intervals.h"

#include <cstdint>

namespace traceloom {

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
