// The arithmetic of all analyses: slopes, statistics of lengths, and sums by keys, in
// one process or in a team.
#pragma once

#include "base/arithmetic.h"
#include "base/duration_stats.h"
#include "base/string_table.h"
#include "run/event_columns.h"
#include "run/run.h"
#include "table/columns.h"
#include "team/wire.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace traceloom {

// A gain or a delay below this part of a step is no remedy, no verdict, and no news.
inline constexpr double kWorthNaming = 0.01;

// Fewer steps show little: a rank is named only if it has a cause, or is nearly always slower.
inline constexpr std::size_t kFewSteps = 4;

// These two round halves up. The sum is wide, because a file may claim times of any length.
inline std::int64_t rounded_mean(Int128 sum, std::size_t count) {
  const auto n = static_cast<Int128>(count);
  return static_cast<std::int64_t>((2 * sum + n) / (2 * n));
}
// Returns 0 if there are no values.
inline std::int64_t mean(const std::vector<std::int64_t>& values) {
  Int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  return values.empty() ? 0 : rounded_mean(sum, values.size());
}

// Returns the share of a part; 0 if `all` is 0.
inline double ratio(std::int64_t part, std::int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

// slope_of: the slope of the straight line nearest to points, by least squares.
//
//   std::optional<double> bytes_per_step = slope_of({{1, 100}, {2, 110}, {3, 120}});   // 10

// Returns nullopt if all points have the same x, or if there are none.
inline std::optional<double> slope_of(const std::vector<std::pair<double, double>>& points) {
  double x_sum = 0;
  double y_sum = 0;
  for (const auto& [x, y] : points) {
    x_sum += x;
    y_sum += y;
  }
  const auto count = static_cast<double>(points.size());
  double above = 0;
  double below = 0;
  for (const auto& [x, y] : points) {
    above += (x - x_sum / count) * (y - y_sum / count);
    below += (x - x_sum / count) * (x - x_sum / count);
  }
  if (!(below > 0)) return std::nullopt;
  return above / below;
}

// Returns the slope over the counted steps of a rank of what `points`, sorted by `at_ns`, are at
// their ends. Fewer than three steps prove no growth.
template <typename Point, typename Value>
std::optional<double> slope_at_ends(const RankEvents& rank, const std::vector<Point>& points,
                                    Value value) {
  if (rank.steps.kind == StepKind::none) return std::nullopt;
  std::vector<std::pair<double, double>> at_ends;
  for (const Step& step : rank.steps.list) {
    const auto after = std::ranges::upper_bound(points, step.time.to_ns, {}, &Point::at_ns);
    if (step.counted && after != points.begin())
      at_ends.emplace_back(at_ends.size(), after[-1].*value);
  }
  return at_ends.size() < 3 ? std::nullopt : slope_of(at_ends);
}

// The statistics of the lengths of some events, none of which is negative.
//
//   TimeStats stats = time_stats(times);                     // stats.p99_ns, stats.mean_ns, ...

using TimeStats = DurationStats;
inline TimeStats time_stats(const std::vector<std::int64_t>& times) {
  DurationValues values;
  for (const std::int64_t ns : times) values.add(ns);
  return compute_stats(values);
}

// A mean of the numbers in traces (blocks per SM: 0.25), weighted by duration. It is exact in
// millionths, so the order of the numbers has no influence.
class WeightedMean {
 public:
  void add(double number, std::int64_t ns);
  void add(const WeightedMean& more);
  bool empty() const { return count_ == 0; }
  // Returns the plain mean if all weights are 0, and 0 if there are no numbers.
  double value() const;

 private:
  Int128 sum_ = 0;  // sum of millionths times ns
  std::int64_t ns_ = 0;
  Int128 plain_ = 0;  // sum of millionths
  std::int64_t count_ = 0;
};

// TextNumbers: numbers the parts of texts that a run has numbered as a whole, so that rows that
// look equal to people become one.
//
//   TextNumbers names = label_names(run.labels);     // labels of two categories may have one name
//   names[span.label]                                // equal where the names are
//   names.text(number)

class TextNumbers {
 public:
  // Adds the part of the run's next number.
  void add(std::string_view part) { numbers_.push_back(parts_.intern(part)); }

  // `number` is the run's; returns kNothing if it has no part, and for kNoDetail.
  std::int64_t operator[](std::uint32_t number) const {
    if (number >= numbers_.size() || parts_[numbers_[number]].empty()) return kNothing;
    return numbers_[number];
  }
  // Returns an empty text for kNothing, and for a number without a part.
  std::string_view text(std::int64_t part) const {
    return part < 0 || part >= static_cast<std::int64_t>(parts_.size())
               ? std::string_view{}
               : parts_[static_cast<std::uint32_t>(part)];
  }
  static constexpr std::int64_t kNothing = -1;

 private:
  StringTable parts_;
  std::vector<std::uint32_t> numbers_;
};

// Numbers the names of labels.
TextNumbers label_names(const Labels& labels);

// Numbers the lines "key\tvalue\n" of details whose key is one of `keys`; see run/event_columns.h.
TextNumbers detail_parts(const StringTable& details, const std::vector<std::string_view>& keys);

// Numbers the shapes of arguments; with `all` also types, strides and values.
TextNumbers argument_parts(const StringTable& details, bool all);

// Returns the shapes among the arguments of an operator, a text for find_detail().
std::string_view find_shape(std::string_view arguments);

// Returns the value of a column: what find_detail() finds in a text of the row.
template <typename Text>
auto detail_of(Text text, std::string_view key) {
  return [text, key](const auto& row) {
    return text_or_nothing(find_detail(value_in(text, row), key));
  };
}

// Grouped: sums by keys of a few numbers each.
//
//   Grouped<KernelTimes, 2> groups;
//   groups[{rank, label}].add(span);
//   for (const auto& [key, times] : groups) ...
//
// The order of the groups has no meaning.

template <std::size_t kParts>
using GroupKey = std::array<std::int64_t, kParts>;

struct GroupHash {
  template <std::size_t kParts>
  std::size_t operator()(const GroupKey<kParts>& key) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(key.data()), sizeof(key)});
  }
};

template <typename Group, std::size_t kParts>
using Grouped = std::unordered_map<GroupKey<kParts>, Group, GroupHash>;

// finish_groups: computes the statistics of groups whose values the processes of a team have.
//
//   for (const RankEvents& rank : run.ranks)
//     if (rank.is_here) rank.for_each_device([&](const DeviceSpan& span) {
//         groups[key_of(span)].times.push_back(length_of(span)); });
//   finish_groups(run, groups);                      // then each group has its percentiles
//
// A group is a class with
//   void add(Group more);      // adds the values of the same group from another process
//   void finish();             // computes the statistics, and drops the values
//   void wire(Wire&);          // team/wire.h
// Each group goes to one process, which follows from its key, so no process needs memory for all
// values; the finished groups go to all. The parts of a key must mean the same on all processes.
// The order of the groups depends on the number of processes.

template <typename Group, std::size_t kParts>
void finish_groups(const Run& run, Grouped<Group, kParts>& groups) {
  using Entries = std::vector<std::pair<GroupKey<kParts>, Group>>;
  const auto finish = [](Grouped<Group, kParts>& some) {
    for (auto& [key, group] : some) group.finish();
  };
  Team& team = team_or_alone(run.team);
  if (team.is_alone()) return finish(groups);
  std::vector<Entries> parts(team.size());
  for (auto& [key, group] : groups)
    parts[GroupHash()(key) % team.size()].emplace_back(key, std::move(group));
  std::vector<std::string> messages;
  messages.reserve(parts.size());
  for (Entries& part : parts) messages.push_back(to_wire(std::exchange(part, {})));
  Grouped<Group, kParts> own;
  for (const std::string& message : team.exchange(std::move(messages)))
    for (auto& [key, group] : from_wire<Entries>(message)) own[key].add(std::move(group));
  finish(own);
  groups.clear();
  for (Entries& entries :
       share(team, Entries(std::move_iterator(own.begin()), std::move_iterator(own.end()))))
    for (auto& [key, group] : entries) groups[key] = std::move(group);
}

// Adds the values of the same group from another process to those that are here.
inline void add_values(std::vector<std::int64_t>& to, std::vector<std::int64_t> more) {
  if (to.empty())
    to = std::move(more);
  else
    to.insert(to.end(), more.begin(), more.end());
}

// add_sums: adds the sums of another object, which a class lists once, by std::tie().
//
//   auto sums() { return std::tie(total_ns, count, any_measured); }
//   add_sums(group.sums(), more.sums());

template <typename... Sum>
void add_sums(std::tuple<Sum&...> to, const std::tuple<Sum&...>& more) {
  const auto add = [](auto& sum, const auto& part) {
    if constexpr (std::is_same_v<decltype(part), const std::int64_t&>)
      add_to(sum, part);
    else if constexpr (std::is_same_v<decltype(part), const bool&>)
      sum = sum || part;
    else
      sum += part;
  };
  std::apply(
      [&](auto&... sums) { std::apply([&](auto&... parts) { (add(sums, parts), ...); }, more); },
      to);
}

// Adds up the totals of all processes; `Totals` has sums().
template <typename Totals>
void add_up(const Run& run, Totals& totals) {
  Totals all;
  for (Totals& part : share(team_or_alone(run.team), std::move(totals)))
    add_sums(all.sums(), part.sums());
  totals = all;
}

}  // namespace traceloom
