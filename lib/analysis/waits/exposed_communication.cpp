#include "analysis/waits/exposed_communication.h"

#include "analysis/waits/step_finder.h"

#include <algorithm>
#include <optional>

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

// Returns the times in the groups to which the other rank does not belong. Most pairs have the same
// groups.
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
  const RankRoles& roles = roles_[places_.ranks[rank]];
  const StepFinder steps(roles, places_.step_index[rank]);
  StepTimes times;
  times.latency_ns.resize(places_.step_index[rank].size());
  Intervals all;
  for (const ProcessGroup& group : groups)
    for (const Part& part : parts_[rank].at(group)) {
      all.push_back(part.time);
      if (const std::optional<std::size_t> step = steps.step_at(part.time.from_ns))
        add_to(times.latency_ns[*step], part.latency_ns);
    }
  ExposedTimes exposed(roles);
  Intervals shown;
  for (const Interval& time : unite(std::move(all))) {
    const Intervals rest = exposed.of(time);
    shown.insert(shown.end(), rest.begin(), rest.end());
  }
  times.exposed_ns = steps.totals(shown);
  return times;
}

}  // namespace traceloom
