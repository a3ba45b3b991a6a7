#include "clock/time_map.h"

#include <iterator>
#include <utility>

namespace traceloom {
namespace {

// Always rounds down, so that the sum of time and shift never decreases.
std::int64_t interpolated(const TimeMap::Knot& before, const TimeMap::Knot& after,
                          std::int64_t ns) {
  const Int128 span = Int128{after.at_ns} - before.at_ns;
  const Int128 rise = Int128{after.shift_ns} - before.shift_ns;
  const Int128 product = rise * (Int128{ns} - before.at_ns);
  const Int128 quotient = product / span - (product % span < 0 ? 1 : 0);
  return static_cast<std::int64_t>(before.shift_ns + quotient);
}

}  // namespace

TimeMap::Line::Line(std::vector<Knot> all) : knots(std::move(all)) {
  const auto rises = [](const Knot& a, const Knot& b) { return a.shift_ns != b.shift_ns; };
  has_slope = std::ranges::adjacent_find(knots, rises) != knots.end();
}

TimeMap::TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns,
                 std::shared_ptr<const Line> line)
    : shift_ns_{relative_shift_ns, unix_shift_ns},
      line_(std::move(line)),
      has_drift_(line_->has_slope) {
  if (has_drift_) return;
  for (std::int64_t& shift_ns : shift_ns_)
    if (!line_->knots.empty()) shift_ns = saturating_add(shift_ns, line_->knots.front().shift_ns);
  line_ = nullptr;
}

bool TimeMap::operator==(const TimeMap& other) const {
  const bool same_line = line_ == other.line_ ||
                         (line_ != nullptr && other.line_ != nullptr && *line_ == *other.line_);
  return same_line && std::ranges::equal(shift_ns_, other.shift_ns_) &&
         origin_ns_ == other.origin_ns_ && parts_ == other.parts_ &&
         has_drift_ == other.has_drift_ && least_ns_ == other.least_ns_ &&
         most_ns_ == other.most_ns_;
}

std::optional<std::int64_t> TimeMap::constant_shift(std::int64_t first_ns,
                                                    std::int64_t last_ns) const {
  const bool is_unix = is_unix_time(first_ns);
  std::int64_t mapped_ns = 0;
  if (line_ != nullptr || is_unix != is_unix_time(last_ns) || !map(first_ns, mapped_ns) ||
      !map(last_ns, mapped_ns))
    return std::nullopt;
  return shift_ns_[is_unix ? 1 : 0];
}

bool TimeMap::moves_nothing() const {
  TimeMap unlimited = *this;
  unlimited.least_ns_ = std::numeric_limits<std::int64_t>::min();
  unlimited.most_ns_ = std::numeric_limits<std::int64_t>::max();
  return unlimited == TimeMap();
}

TimeMap TimeMap::joined(std::int64_t base_ns, const std::vector<Cycle>& cycles) {
  TimeMap joined(base_ns);
  std::vector<Knot> knots;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const Cycle& cycle = cycles[i];
    // Cycles between which the clock only drifted are on one line.
    if (i > 0 && cycle.times == cycles[i - 1].times) {
      joined.parts_.back().last_ns = std::max(joined.parts_.back().last_ns, cycle.last_ns);
      continue;
    }
    joined.parts_.push_back({cycle.first_ns, cycle.last_ns, knots.size()});
    joined.has_drift_ |= cycle.times.has_drift_;
    if (const Line* const line = cycle.times.line_.get())
      knots.insert(knots.end(), line->knots.begin(), line->knots.end());
    else
      knots.push_back({cycle.first_ns, saturating_subtract(cycle.times.shift_ns_[0], base_ns)});
  }
  if (joined.parts_.size() == 1) return cycles.front().times;
  joined.line_ = std::make_shared<const Line>(std::move(knots));
  return joined;
}

TimeMap TimeMap::since(std::int64_t origin_ns) const {
  TimeMap times = *this;
  if (line_ != nullptr)
    times.origin_ns_ = saturating_add(origin_ns_, origin_ns);
  else
    for (std::int64_t& shift_ns : times.shift_ns_)
      shift_ns = saturating_subtract(shift_ns, origin_ns);
  return times;
}

std::span<const TimeMap::Knot> TimeMap::knots_at(std::int64_t at_ns) const {
  const std::vector<Knot>& knots = line_->knots;
  if (parts_.empty()) return knots;
  auto next = std::ranges::upper_bound(parts_, at_ns, {}, &Part::first_ns);
  if (next == parts_.begin()) ++next;
  const std::size_t end = next == parts_.end() ? knots.size() : next->first_knot;
  const std::size_t begin = std::prev(next)->first_knot;
  return std::span(knots).subspan(begin, end - begin);
}

bool TimeMap::add_shift(std::span<const Knot> knots, std::int64_t& ns) const {
  const auto later = std::ranges::upper_bound(knots, ns, {}, &Knot::at_ns);
  std::int64_t shift_ns = 0;
  if (later == knots.begin())
    shift_ns = knots.front().shift_ns;
  else if (later == knots.end())
    shift_ns = knots.back().shift_ns;
  else
    shift_ns = interpolated(*std::prev(later), *later, ns);
  return !__builtin_add_overflow(ns, saturating_subtract(shift_ns, origin_ns_), &ns);
}

std::optional<std::int64_t> OwnClocks::at(std::int64_t unix_ns) const {
  std::optional<std::int64_t> nearest;
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  for (const Trace& trace : traces_) {
    std::int64_t ns = 0;
    if (!trace.times.map(saturating_subtract(unix_ns, trace.base_ns), ns)) continue;
    const std::int64_t away_ns =
        std::max({saturating_subtract(trace.first_ns, ns), saturating_subtract(ns, trace.last_ns),
                  std::int64_t{0}});
    if (nearest && away_ns >= least_ns) continue;
    nearest = ns;
    least_ns = away_ns;
  }
  return nearest;
}

bool OwnClocks::are_near(std::int64_t from_ns, std::int64_t to_ns) const {
  return std::ranges::any_of(traces_, [&](const Trace& trace) {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    return trace.times.map(saturating_subtract(from_ns, trace.base_ns), first_ns) &&
           trace.times.map(saturating_subtract(to_ns, trace.base_ns), last_ns) &&
           saturating_subtract(first_ns, trace.last_ns) <= kFarFromEventsNs &&
           saturating_subtract(trace.first_ns, last_ns) <= kFarFromEventsNs;
  });
}

}  // namespace traceloom
