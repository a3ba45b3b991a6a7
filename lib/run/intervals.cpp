#include "run/intervals.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace traceloom {
namespace {

// It is an object and not a function, so that sorting can inline it.
constexpr auto kBeginsBefore = [](const Interval& a, const Interval& b) {
  return a.from_ns < b.from_ns;
};

}  // namespace

Intervals unite(Intervals pieces) {
  // The events of a row are mostly in time order already.
  if (!std::ranges::is_sorted(pieces, kBeginsBefore)) std::ranges::sort(pieces, kBeginsBefore);
  std::size_t kept = 0;
  for (const Interval piece : pieces) {
    if (piece.to_ns <= piece.from_ns) continue;
    if (kept > 0 && piece.from_ns <= pieces[kept - 1].to_ns)
      pieces[kept - 1].to_ns = std::max(pieces[kept - 1].to_ns, piece.to_ns);
    else
      pieces[kept++] = piece;
  }
  pieces.resize(kept);
  return pieces;
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t from = std::max(a[i].from_ns, b[j].from_ns);
    const std::int64_t to = std::min(a[i].to_ns, b[j].to_ns);
    if (from < to) common.push_back({from, to});
    if (a[i].to_ns < b[j].to_ns)
      ++i;
    else
      ++j;
  }
  return common;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals rest;
  std::size_t j = 0;
  for (Interval piece : a) {
    while (j < b.size() && b[j].to_ns <= piece.from_ns) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from_ns < piece.to_ns; ++k) {
      if (piece.from_ns < b[k].from_ns) rest.push_back({piece.from_ns, b[k].from_ns});
      piece.from_ns = std::max(piece.from_ns, b[k].to_ns);
    }
    if (piece.from_ns < piece.to_ns) rest.push_back(piece);
  }
  return rest;
}

std::int64_t total_ns(const Intervals& set) {
  std::int64_t sum = 0;
  for (const Interval& piece : set) add_to(sum, length_ns(piece));
  return sum;
}

std::vector<std::int64_t> totals_in(const Intervals& set, const Intervals& windows) {
  std::vector<std::int64_t> totals(windows.size(), 0);
  std::size_t first = 0;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    while (first < set.size() && set[first].to_ns <= windows[w].from_ns) ++first;
    for (std::size_t i = first; i < set.size() && set[i].from_ns < windows[w].to_ns; ++i) {
      const Interval part{std::max(set[i].from_ns, windows[w].from_ns),
                          std::min(set[i].to_ns, windows[w].to_ns)};
      if (part.from_ns < part.to_ns) add_to(totals[w], length_ns(part));
    }
  }
  return totals;
}

IntervalLengths::IntervalLengths(const Intervals& set) : set_(set) {
  before_.reserve(set.size() + 1);
  before_.push_back(0);
  for (const Interval& piece : set)
    before_.push_back(saturating_add(before_.back(), length_ns(piece)));
}

std::int64_t IntervalLengths::until(std::int64_t ns) {
  constexpr std::size_t kSteps = 4;
  const auto is_before = [&](const Interval& piece) { return piece.to_ns <= ns; };
  if (place_ > 0 && !is_before(set_[place_ - 1])) place_ = 0;
  for (std::size_t i = 0; i < kSteps && place_ < set_.size() && is_before(set_[place_]); ++i)
    ++place_;
  if (place_ < set_.size() && is_before(set_[place_]))
    place_ = static_cast<std::size_t>(
        std::partition_point(set_.begin() + static_cast<std::ptrdiff_t>(place_), set_.end(),
                             is_before) -
        set_.begin());
  const std::int64_t whole = before_[place_];
  const bool is_behind = place_ == set_.size() || set_[place_].from_ns >= ns;
  return is_behind ? whole : whole + (ns - set_[place_].from_ns);
}

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
  found_.erase(found_.begin(), std::ranges::find_if(found_, reaches));
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
