#include "clock/time_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace traceloom {
namespace {

__extension__ typedef __int128 Int128;

// Rounded down, always, so that the sum of time and shift never goes back.
std::int64_t interpolated(const TimeMap::Knot& before, const TimeMap::Knot& after,
                          std::int64_t ns) {
  const Int128 span = Int128{after.at_ns} - before.at_ns;
  const Int128 rise = Int128{after.shift_ns} - before.shift_ns;
  const Int128 product = rise * (Int128{ns} - before.at_ns);
  const Int128 quotient = product / span - (product % span < 0 ? 1 : 0);
  return static_cast<std::int64_t>(before.shift_ns + quotient);
}

bool has_slope(std::span<const TimeMap::Knot> knots) {
  const auto rises = [](const TimeMap::Knot& a, const TimeMap::Knot& b) {
    return a.shift_ns != b.shift_ns;
  };
  return std::ranges::adjacent_find(knots, rises) != knots.end();
}

}  // namespace

TimeMap::TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns,
                 std::vector<Knot> knots)
    : shift_ns_{relative_shift_ns, unix_shift_ns},
      knots_(std::move(knots)),
      has_drift_(has_slope(knots_)) {
  if (has_drift_ || knots_.empty()) return;
  for (std::int64_t& shift_ns : shift_ns_)
    shift_ns = saturating_add(shift_ns, knots_.front().shift_ns);
  knots_.clear();
}

TimeMap TimeMap::joined(std::int64_t base_ns, const std::vector<Cycle>& cycles) {
  TimeMap joined(base_ns);
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const Cycle& cycle = cycles[i];
    // Cycles between which the clock only drifted are on one line.
    if (i > 0 && cycle.times == cycles[i - 1].times) {
      joined.parts_.back().last_ns = std::max(joined.parts_.back().last_ns, cycle.last_ns);
      continue;
    }
    joined.parts_.push_back({cycle.first_ns, cycle.last_ns, joined.knots_.size()});
    joined.has_drift_ |= cycle.times.has_drift_;
    const std::vector<Knot>& knots = cycle.times.knots_;
    joined.knots_.insert(joined.knots_.end(), knots.begin(), knots.end());
    if (knots.empty())
      joined.knots_.push_back(
          {cycle.first_ns, saturating_subtract(cycle.times.shift_ns_[0], base_ns)});
  }
  return joined.parts_.size() == 1 ? cycles.front().times : joined;
}

TimeMap TimeMap::since(std::int64_t origin_ns) const {
  TimeMap times = *this;
  if (knots_.empty())
    for (std::int64_t& shift_ns : times.shift_ns_)
      shift_ns = saturating_subtract(shift_ns, origin_ns);
  else
    for (Knot& knot : times.knots_) knot.shift_ns = saturating_subtract(knot.shift_ns, origin_ns);
  return times;
}

std::span<const TimeMap::Knot> TimeMap::knots_at(std::int64_t at_ns) const {
  if (parts_.empty()) return knots_;
  auto next = std::ranges::upper_bound(parts_, at_ns, {}, &Part::first_ns);
  if (next == parts_.begin()) ++next;
  const std::size_t end = next == parts_.end() ? knots_.size() : next->first_knot;
  const std::size_t begin = std::prev(next)->first_knot;
  return std::span(knots_).subspan(begin, end - begin);
}

bool TimeMap::add_shift(std::span<const Knot> knots, std::int64_t& ns) {
  const auto later = std::ranges::upper_bound(knots, ns, {}, &Knot::at_ns);
  std::int64_t shift_ns = 0;
  if (later == knots.begin())
    shift_ns = knots.front().shift_ns;
  else if (later == knots.end())
    shift_ns = knots.back().shift_ns;
  else
    shift_ns = interpolated(*std::prev(later), *later, ns);
  return !__builtin_add_overflow(ns, shift_ns, &ns);
}

}  // namespace traceloom
