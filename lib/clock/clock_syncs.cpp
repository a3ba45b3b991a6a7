#include "clock/clock_syncs.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

std::optional<std::int64_t> narrow(Int128 value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<ClockRange> range(Int128 low, Int128 high) {
  const std::optional<std::int64_t> low_ns = narrow(low);
  const std::optional<std::int64_t> high_ns = narrow(high);
  if (!low_ns || !high_ns) return std::nullopt;
  return ClockRange{*low_ns, *high_ns};
}

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

bool shift(std::vector<std::int64_t>& times, std::int64_t less_ns) {
  return std::ranges::none_of(
      times, [less_ns](std::int64_t& ns) { return __builtin_sub_overflow(ns, less_ns, &ns); });
}

// Returns the most by which two clocks may diverge in that time, rounded up.
Int128 most_drift(Int128 elapsed) {
  constexpr int kMillion = 1'000'000;
  return (magnitude(elapsed) * kMaxDriftPpm + kMillion - 1) / kMillion;
}

// Skips the first round if there are more, because in it ranks wait for the last one.
std::int64_t middle_of(const SyncRounds& rounds) {
  const std::size_t first = rounds.enter_ns.size() > 1 ? 1 : 0;
  return static_cast<std::int64_t>((Int128{rounds.enter_ns[first]} + rounds.exit_ns.back()) / 2);
}

}  // namespace

std::int64_t ClockRange::middle_ns() const {
  return static_cast<std::int64_t>((Int128{low_ns} + high_ns) >> 1);
}

std::int64_t ClockRange::error_ns() const {
  return farthest(middle_ns(), *this);
}

std::optional<ClockRange> sum(const ClockRange& a, const ClockRange& b) {
  return range(Int128{a.low_ns} + b.low_ns, Int128{a.high_ns} + b.high_ns);
}

std::optional<ClockRange> difference(const ClockRange& a, const ClockRange& b) {
  return range(Int128{a.low_ns} - b.high_ns, Int128{a.high_ns} - b.low_ns);
}

std::int64_t farthest(std::int64_t ns, const ClockRange& range) {
  const Int128 far = std::max(Int128{range.high_ns} - ns, Int128{ns} - range.low_ns);
  return narrow(far).value_or(std::numeric_limits<std::int64_t>::max());
}

ClockRange hull(const ClockRange& a, const ClockRange& b) {
  return {std::min(a.low_ns, b.low_ns), std::max(a.high_ns, b.high_ns)};
}

std::optional<MachineShift> machine_shift(const ClockRange& of_other, const ClockRange& own) {
  const std::optional<ClockRange> shift = difference(of_other, own);
  if (!shift) return std::nullopt;
  const std::int64_t shift_ns = shift->holds(0) ? 0 : shift->middle_ns();
  return MachineShift{shift_ns, farthest(shift_ns, *shift)};
}

std::optional<SyncRounds> on_machine(const SyncRounds& rounds, const ClockRange& ahead) {
  SyncRounds shifted = rounds;
  if (!shift(shifted.enter_ns, ahead.high_ns) || !shift(shifted.exit_ns, ahead.low_ns))
    return std::nullopt;
  return shifted;
}

bool join(SyncRounds& rounds, const SyncRounds& of_other_rank) {
  if (rounds.enter_ns.size() != of_other_rank.enter_ns.size()) return false;
  for (std::size_t i = 0; i < rounds.enter_ns.size(); ++i) {
    rounds.enter_ns[i] = std::max(rounds.enter_ns[i], of_other_rank.enter_ns[i]);
    rounds.exit_ns[i] = std::min(rounds.exit_ns[i], of_other_rank.exit_ns[i]);
  }
  return true;
}

bool is_possible(const SyncRounds& rounds) {
  if (rounds.enter_ns.size() != rounds.exit_ns.size()) return false;
  for (std::size_t i = 0; i < rounds.enter_ns.size(); ++i)
    if (rounds.exit_ns[i] < rounds.enter_ns[i]) return false;
  return true;
}

std::optional<ClockOffset> clock_offset(const SyncRounds& reference, const SyncRounds& other) {
  if (other.empty() || reference.enter_ns.size() != other.enter_ns.size()) return std::nullopt;
  const std::int64_t at_ns = middle_of(other);
  std::optional<Int128> low;
  std::optional<Int128> high;
  for (std::size_t i = 0; i < other.enter_ns.size(); ++i) {
    const Int128 enter_ns = other.enter_ns[i];
    const Int128 exit_ns = other.exit_ns[i];
    const Int128 least = enter_ns - reference.exit_ns[i] - most_drift(enter_ns - at_ns);
    const Int128 most = exit_ns - reference.enter_ns[i] + most_drift(exit_ns - at_ns);
    low = std::max(least, low.value_or(least));
    high = std::min(most, high.value_or(most));
  }
  const std::optional<ClockRange> ahead = range(*low, *high);
  return ahead ? std::optional(ClockOffset{at_ns, *ahead}) : std::nullopt;
}

namespace {

double drift_ppm(const SyncPoint& earlier, const SyncPoint& later) {
  const Int128 change = Int128{earlier.shift_ns} - later.shift_ns;
  const Int128 elapsed = Int128{later.at_ns} - earlier.at_ns;
  return std::round(static_cast<double>(change) / static_cast<double>(elapsed) * 1e9) / 1e3;
}

}  // namespace

ClockRange range_of(const SyncPoint& point) {
  const auto range =
      difference({point.shift_ns, point.shift_ns}, {-point.error_ns, point.error_ns});
  return range.value_or(ClockRange{point.shift_ns, point.shift_ns});
}

ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later) {
  const Int128 elapsed = Int128{later.at_ns} - earlier.at_ns;
  const Int128 jump = magnitude(Int128{later.shift_ns} - earlier.shift_ns);
  const Int128 error = Int128{earlier.error_ns} + later.error_ns;
  const auto is_what_clocks_drift = [elapsed](Int128 change) {
    return change * 1'000'000 <= elapsed * kMaxDriftPpm;
  };
  if (!is_what_clocks_drift(jump - error)) return ClockChange::step;
  // Between cycles that follow each other directly, the difference is only the noise of two
  // barriers.
  return is_what_clocks_drift(jump) && is_what_clocks_drift(error) ? ClockChange::drift
                                                                   : ClockChange::unsure;
}

void count_step(const SyncPoint& earlier, const SyncPoint& later, ProblemCounts& problems) {
  const std::int64_t jump_ns = saturating_subtract(earlier.shift_ns, later.shift_ns);
  const std::int64_t elapsed_ns = saturating_subtract(later.at_ns, earlier.at_ns);
  problems.add(Problem::clock_step, 0, 1,
               elapsed_ns > 0 ? fmt::format("{} within {}", format_duration(jump_ns),
                                            format_duration(elapsed_ns))
                              : fmt::format("{} within a cycle", format_duration(jump_ns)));
}

std::vector<Drift> drifts_of(const std::vector<SyncPoint>& points) {
  std::vector<Drift> drifts(points.size());
  for (std::size_t first = 0; first < points.size();) {
    std::size_t last = first;
    while (last + 1 < points.size() &&
           change_between(points[last], points[last + 1]) == ClockChange::drift)
      ++last;
    std::vector<TimeMap::Knot> knots;
    for (std::size_t i = first; i <= last; ++i)
      knots.push_back({points[i].at_ns, points[i].shift_ns});
    const auto line = std::make_shared<const TimeMap::Line>(std::move(knots));
    for (std::size_t i = first; i <= last; ++i) {
      drifts[i].line = line;
      if (first == last) continue;
      const std::size_t earlier = std::min(i, last - 1);
      drifts[i].ppm = drift_ppm(points[earlier], points[earlier + 1]);
    }
    first = last + 1;
  }
  return drifts;
}

namespace {

// Files and the moments that they stamped, as nodes: the files come first. The size is linear in
// the number of stamps, however many files share a moment.
struct Stamp {
  std::size_t to;
  std::int64_t more_ns;  // a moment is at the offset of a file and the time that it stamped
  std::int64_t error_ns;
};
using Graph = std::vector<std::vector<Stamp>>;

Graph graph_of(const std::vector<SyncNode>& files) {
  Graph graph(files.size());
  std::map<std::string_view, std::size_t> moments;
  for (std::size_t file = 0; file < files.size(); ++file)
    for (const SyncEvent& event : files[file].events) {
      const std::size_t moment = moments.try_emplace(event.id, graph.size()).first->second;
      if (moment == graph.size()) graph.emplace_back();
      graph[file].push_back({moment, event.moment_ns, event.error_ns});
      graph[moment].push_back({file, saturating_subtract(0, event.moment_ns), event.error_ns});
    }
  return graph;
}

}  // namespace

// Finds the shortest paths with Dijkstra's algorithm. Of equal errors the lowest node comes first.
std::vector<std::optional<SyncPlace>> place_by_sync_events(const std::vector<SyncNode>& files) {
  const Graph graph = graph_of(files);
  std::vector<std::optional<SyncPlace>> places(graph.size());
  std::set<std::tuple<std::int64_t, std::size_t, std::int64_t>> steps;  // error, node, offset
  for (std::size_t file = 0; file < files.size(); ++file)
    if (files[file].offset_ns) steps.emplace(0, file, *files[file].offset_ns);
  while (!steps.empty()) {
    const auto [error_ns, node, offset_ns] = *steps.begin();
    steps.erase(steps.begin());
    if (places[node]) continue;
    places[node] = SyncPlace{offset_ns, error_ns};
    for (const Stamp& stamp : graph[node]) {
      const auto next_error_ns = sum(error_ns, stamp.error_ns);
      const auto next_ns = sum(offset_ns, stamp.more_ns);
      if (!places[stamp.to] && next_error_ns && next_ns)
        steps.emplace(*next_error_ns, stamp.to, *next_ns);
    }
  }
  places.resize(files.size());
  return places;
}

std::vector<std::vector<std::size_t>> connected_by_sync_events(const std::vector<SyncNode>& files) {
  const Graph graph = graph_of(files);
  std::vector<std::vector<std::size_t>> groups;
  std::vector<char> is_met(graph.size());
  for (std::size_t first = 0; first < files.size(); ++first) {
    if (std::exchange(is_met[first], char{1})) continue;
    std::vector<std::size_t> group{first};
    for (std::size_t i = 0; i < group.size(); ++i)
      for (const Stamp& stamp : graph[group[i]])
        if (!std::exchange(is_met[stamp.to], char{1})) group.push_back(stamp.to);
    std::erase_if(group, [&](std::size_t node) { return node >= files.size(); });
    std::ranges::sort(group);
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace traceloom
