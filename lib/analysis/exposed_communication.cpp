#include "analysis/exposed_communication.h"

#include <algorithm>

namespace traceloom {

ExposedTimes::ExposedTimes(const RankRoles& roles)
    : kernels_(roles.sets[Role::kernel]),
      copies_(roles.sets[Role::memcpy]),
      fills_(roles.sets[Role::memset]) {}

Intervals ExposedTimes::of(const Interval& time) {
  Intervals rest = unite({time});
  for (IntervalWindows* work : {&kernels_, &copies_, &fills_})
    rest = subtract(rest, work->in(time));
  return rest;
}

ExposedCommunication::ExposedCommunication(const std::vector<Collective>& collectives,
                                           const std::vector<RankRoles>& roles,
                                           const StepPlaces& places)
    : roles_(roles), places_(places), parts_(places.ranks.size()) {
  const std::map<std::size_t, std::size_t> numbers = places.numbers();
  for (const Collective& what : collectives) {
    const std::int64_t latency_ns = what.latency_ns();
    for (const CollectivePart& part : what.parts)
      if (const auto rank = numbers.find(part.rank); rank != numbers.end())
        parts_[rank->second][what.group].push_back({{part.start_ns, part.end_ns}, latency_ns});
  }
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    Groups groups;
    for (const auto& [group, parts] : parts_[rank]) groups.push_back(group);
    all_.push_back(&times_in(rank, std::move(groups)));
  }
}

std::int64_t ExposedCommunication::longer_ns(std::size_t rank, std::size_t other,
                                             std::size_t step) {
  const StepTimes& own = times_without(rank, other);
  const StepTimes& others = times_without(other, rank);
  const std::int64_t more_ns = own.latency_ns[step] - others.latency_ns[step];
  const std::int64_t own_ns = std::clamp<std::int64_t>(more_ns, 0, own.exposed_ns[step]);
  const std::int64_t others_ns = std::clamp<std::int64_t>(-more_ns, 0, others.exposed_ns[step]);
  return (all_[rank]->exposed_ns[step] - own_ns) - (all_[other]->exposed_ns[step] - others_ns);
}

const ExposedCommunication::StepTimes& ExposedCommunication::times_in(std::size_t rank,
                                                                      Groups groups) {
  const auto [times, is_new] = found_.try_emplace({rank, std::move(groups)});
  if (is_new) times->second = find_times(rank, times->first.second);
  return times->second;
}

// In the groups that the other does not belong to. Most pairs have the same.
const ExposedCommunication::StepTimes& ExposedCommunication::times_without(std::size_t rank,
                                                                           std::size_t other) {
  const auto [pair, is_new] = without_.try_emplace({rank, other}, nullptr);
  if (!is_new) return *pair->second;
  Groups groups;
  for (const auto& [group, parts] : parts_[rank])
    if (parts_[other].count(group) == 0) groups.push_back(group);
  pair->second = &times_in(rank, std::move(groups));
  return *pair->second;
}

ExposedCommunication::StepTimes ExposedCommunication::find_times(std::size_t rank,
                                                                 const Groups& groups) const {
  Intervals windows;
  std::vector<std::size_t> steps;
  const RankRoles& roles = roles_[places_.ranks[rank]];
  for_each_shared(roles.steps, places_.step_index[rank],
                  [&](std::size_t step, const StepRoles& found) {
                    windows.push_back(found.step.time);
                    steps.push_back(step);
                  });
  StepTimes times;
  times.exposed_ns.resize(steps.size());
  times.latency_ns.resize(steps.size());
  Intervals all;
  for (const std::string& group : groups)
    for (const Part& part : parts_[rank].at(group)) {
      all.push_back(part.time);
      const auto next = std::upper_bound(
          windows.begin(), windows.end(), part.time.from_ns,
          [](std::int64_t ns, const Interval& window) { return ns < window.from_ns; });
      if (next == windows.begin() || part.time.from_ns >= (next - 1)->to_ns) continue;
      add_to(times.latency_ns[steps[static_cast<std::size_t>(next - windows.begin()) - 1]],
             part.latency_ns);
    }
  ExposedTimes exposed(roles);
  Intervals shown;
  for (const Interval& time : unite(std::move(all))) {
    const Intervals rest = exposed.of(time);
    shown.insert(shown.end(), rest.begin(), rest.end());
  }
  const std::vector<std::int64_t> totals = totals_in(shown, windows);
  for (std::size_t i = 0; i < steps.size(); ++i) times.exposed_ns[steps[i]] = totals[i];
  return times;
}

}  // namespace traceloom
