#include "run/intervals.h"

#include "base/saturating.h"

#include <algorithm>
#include <cstddef>

namespace traceloom {
namespace {

// It is an object and not a function, so that sorting can inline it.
constexpr auto kBeginsBefore = [](const Interval& a, const Interval& b) {
  return a.from_ns < b.from_ns;
};

}  // namespace

Intervals unite(Intervals pieces) {
  // The events of a row are mostly in time order already.
  if (!std::is_sorted(pieces.begin(), pieces.end(), kBeginsBefore))
    std::sort(pieces.begin(), pieces.end(), kBeginsBefore);
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

}  // namespace traceloom
