#include "run/packed_intervals.h"

#include "base/saturating.h"

#include <algorithm>
#include <utility>

namespace traceloom {

void IntervalPacker::add(const Interval& piece) {
  if (piece.to_ns <= piece.from_ns) return;
  const bool any = last_.from_ns < last_.to_ns;
  if (any && piece.from_ns < last_.from_ns) return late_.push_back(piece);
  if (any && piece.from_ns <= last_.to_ns) {
    last_.to_ns = std::max(last_.to_ns, piece.to_ns);
    return;
  }
  if (any) packed_.push_back(last_);
  last_ = piece;
}

PackedIntervals IntervalPacker::finish() {
  if (last_.from_ns < last_.to_ns) packed_.push_back(last_);
  packed_.shrink_to_fit();
  PackedIntervals in_order = std::exchange(packed_, {});
  last_ = {};
  if (late_.empty()) return in_order;
  const Intervals late = unite(std::exchange(late_, {}));
  IntervalPacker both;
  auto next = late.begin();
  for (const Interval& piece : in_order) {
    for (; next != late.end() && next->from_ns < piece.from_ns; ++next) both.add(*next);
    both.add(piece);
  }
  for (; next != late.end(); ++next) both.add(*next);
  return both.finish();
}

const Intervals& IntervalWindows::in(const Interval& window) {
  const auto reaches = [&](const Interval& piece) { return piece.to_ns > window.from_ns; };
  found_.erase(found_.begin(), std::find_if(found_.begin(), found_.end(), reaches));
  // Intervals that begin after the window are left for a later call. An interval kept from an
  // earlier window cannot begin there, because windows ascend.
  for (; next_ != end_ && next_->from_ns < window.to_ns; ++next_)
    if (reaches(*next_)) found_.push_back(*next_);
  return found_;
}

Intervals unpacked(const PackedIntervals& set) {
  Intervals all;
  all.reserve(set.size());
  for (const Interval& piece : set) all.push_back(piece);
  return all;
}

std::int64_t total_ns(const PackedIntervals& set) {
  std::int64_t all_ns = 0;
  for (const Interval& piece : set) add_to(all_ns, length_ns(piece));
  return all_ns;
}

}  // namespace traceloom
