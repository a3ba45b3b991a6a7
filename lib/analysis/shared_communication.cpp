#include "analysis/shared_communication.h"

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

SharedCommunication::SharedCommunication(const std::vector<Collective>& collectives,
                                         const std::vector<RankRoles>& roles,
                                         const StepPlaces& places)
    : roles_(roles), places_(places), parts_(places.ranks.size()) {
  const std::map<std::size_t, std::size_t> numbers = places.numbers();
  for (const Collective& what : collectives)
    for (const CollectivePart& part : what.parts)
      if (const auto rank = numbers.find(part.rank); rank != numbers.end())
        parts_[rank->second][what.group].push_back({part.start_ns, part.end_ns});
}

std::int64_t SharedCommunication::exposed_ns(std::size_t rank, std::size_t other,
                                             std::size_t step) {
  return times_with(rank, other)[step];
}

const SharedCommunication::StepTimes& SharedCommunication::times_with(std::size_t rank,
                                                                      std::size_t other) {
  const auto [pair, is_new_pair] = of_pairs_.try_emplace({rank, other}, nullptr);
  if (!is_new_pair) return *pair->second;
  Groups groups;
  for (const auto& [group, parts] : parts_[rank])
    if (parts_[other].count(group) > 0) groups.push_back(group);
  // Most pairs have the same groups.
  const auto [times, is_new] = found_.try_emplace({rank, std::move(groups)});
  if (is_new) times->second = find_times(rank, times->first.second);
  pair->second = &times->second;
  return times->second;
}

SharedCommunication::StepTimes SharedCommunication::find_times(std::size_t rank,
                                                               const Groups& groups) const {
  Intervals all;
  for (const std::string& group : groups) {
    const Intervals& parts = parts_[rank].at(group);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  const RankRoles& roles = roles_[places_.ranks[rank]];
  ExposedTimes exposed(roles);
  Intervals shown;
  for (const Interval& time : unite(std::move(all))) {
    const Intervals rest = exposed.of(time);
    shown.insert(shown.end(), rest.begin(), rest.end());
  }
  Intervals windows;
  std::vector<std::size_t> steps;
  for_each_shared(roles.steps, places_.step_index[rank],
                  [&](std::size_t step, const StepRoles& found) {
                    windows.push_back(found.step.time);
                    steps.push_back(step);
                  });
  const std::vector<std::int64_t> totals = totals_in(shown, windows);
  StepTimes times(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) times[steps[i]] = totals[i];
  return times;
}

}  // namespace traceloom
