#include "clock/time_map.h"

#include "base/saturating.h"

#include <algorithm>
#include <iterator>
#include <limits>
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

}  // namespace

TimeMap::TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns,
                 std::vector<Knot> knots)
    : shift_ns_{relative_shift_ns, unix_shift_ns}, knots_(std::move(knots)) {
  const auto is_other = [&](const Knot& knot) { return knot.shift_ns != knots_.front().shift_ns; };
  if (knots_.empty() || std::any_of(knots_.begin(), knots_.end(), is_other)) {
    const auto slopes = [](const Knot& a, const Knot& b) {
      return a.shift_ns != b.shift_ns && a.at_ns + 1 < b.at_ns;
    };
    has_drift_ = std::adjacent_find(knots_.begin(), knots_.end(), slopes) != knots_.end();
    return;
  }
  for (std::int64_t& shift_ns : shift_ns_)
    shift_ns = saturating_add(shift_ns, knots_.front().shift_ns);
  knots_.clear();
}

TimeMap TimeMap::joined(std::int64_t base_ns, std::vector<Piece> pieces) {
  // Cycles between which the clock only drifted are on one line.
  const auto is_same = [](const Piece& a, const Piece& b) { return a.times == b.times; };
  pieces.erase(std::unique(pieces.begin(), pieces.end(), is_same), pieces.end());
  if (pieces.size() == 1) return pieces.front().times;
  std::vector<Knot> knots;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const TimeMap& times = pieces[i].times;
    const bool is_last = i + 1 == pieces.size();
    const std::int64_t from_ns =
        i == 0 ? std::numeric_limits<std::int64_t>::min() : pieces[i].from_ns;
    const std::int64_t last_ns =
        is_last ? std::numeric_limits<std::int64_t>::max() : pieces[i + 1].from_ns - 1;
    const auto add = [&](std::int64_t at_ns) {
      const std::int64_t common_ns = times.mapped_or_same(saturating_subtract(at_ns, base_ns));
      knots.push_back({at_ns, saturating_subtract(common_ns, at_ns)});
    };
    if (i > 0) add(from_ns);
    for (const Knot& knot : times.knots_)
      if (knot.at_ns > from_ns && knot.at_ns < last_ns) knots.push_back(knot);
    if (!is_last && last_ns > from_ns) add(last_ns);
  }
  return {base_ns, base_ns, std::move(knots)};
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

bool TimeMap::add_drift(std::int64_t& ns) const {
  const auto later =
      std::upper_bound(knots_.begin(), knots_.end(), ns,
                       [](std::int64_t at, const Knot& knot) { return at < knot.at_ns; });
  std::int64_t shift_ns = 0;
  if (later == knots_.begin())
    shift_ns = knots_.front().shift_ns;
  else if (later == knots_.end())
    shift_ns = knots_.back().shift_ns;
  else
    shift_ns = interpolated(*std::prev(later), *later, ns);
  return !__builtin_add_overflow(ns, shift_ns, &ns);
}

}  // namespace traceloom
