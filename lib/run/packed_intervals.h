// PackedIntervals: a set of instants (run/intervals.h) as few bytes, for sets of millions.
//
//   IntervalPacker packer;
//   rank.for_each_host([&](const HostSpan& span) { packer.add(span.interval()); });
//   const PackedIntervals busy = packer.finish();
//
//   IntervalWindows windows(busy);
//   total_ns(windows.in({0, 1'000'000}));                      // then a later window
#pragma once

#include "run/intervals.h"
#include "run/packed_rows.h"

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

// Ascending intervals that neither overlap nor touch.
using PackedIntervals = PackedRows<Interval>;

// Makes the set of instants that any of the intervals holds. They may come in any order; of those
// that do not come by their begin, 16 bytes each are held until finish().
class IntervalPacker {
 public:
  void add(const Interval& piece);
  PackedIntervals finish();

 private:
  PackedIntervals packed_;
  Interval last_;  // behind those in packed_; empty when there is none
  Intervals late_;
};

// A set, one window of time after the other. The set must outlive it.
class IntervalWindows {
 public:
  explicit IntervalWindows(const PackedIntervals& set) : next_(set.begin()), end_(set.end()) {}

  // The whole intervals that have an instant in `window`, which does not begin before the last one
  // asked for. Valid until the next call.
  const Intervals& in(const Interval& window);

 private:
  PackedIntervals::Iterator next_;
  PackedIntervals::Iterator end_;
  Intervals found_;
};

Intervals unpacked(const PackedIntervals& set);
std::int64_t total_ns(const PackedIntervals& set);

}  // namespace traceloom
