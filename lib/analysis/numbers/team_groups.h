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
#pragma once

#include "analysis/numbers/grouped.h"
#include "run/run.h"
#include "team/wire.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

template <typename Group, std::size_t kParts>
void finish_groups(const Run& run, Grouped<Group, kParts>& groups) {
  using Key = typename Grouped<Group, kParts>::Key;
  using Entries = std::vector<std::pair<Key, Group>>;
  const auto finish = [](const Key&, Group& group) { group.finish(); };
  Team& team = team_or_alone(run.team);
  if (team.is_alone()) return groups.for_each(finish);
  std::vector<Entries> parts(team.size());
  groups.for_each([&](const Key& key, Group& group) {
    const std::size_t hash =
        std::hash<std::string_view>()({reinterpret_cast<const char*>(key.data()), sizeof(Key)});
    parts[hash % team.size()].emplace_back(key, std::move(group));
  });
  std::vector<std::string> messages;
  messages.reserve(parts.size());
  for (Entries& part : parts) messages.push_back(to_wire(std::exchange(part, {})));
  Grouped<Group, kParts> own;
  for (const std::string& message : team.exchange(std::move(messages)))
    for (auto& [key, group] : from_wire<Entries>(message)) own[key].add(std::move(group));
  Entries finished;
  own.for_each([&](const Key& key, Group& group) {
    group.finish();
    finished.emplace_back(key, std::move(group));
  });
  groups = {};
  for (Entries& entries : share(team, std::move(finished)))
    for (auto& [key, group] : entries) groups[key] = std::move(group);
}

// Adds the values of the same group from another process to those that are here.
inline void add_values(std::vector<std::int64_t>& to, std::vector<std::int64_t> more) {
  if (to.empty())
    to = std::move(more);
  else
    to.insert(to.end(), more.begin(), more.end());
}

// Adds up the totals of all processes; `Totals` has void add(const Totals&).
template <typename Totals>
void add_up(const Run& run, Totals& totals) {
  Totals sum;
  for (const Totals& part : share(team_or_alone(run.team), std::move(totals))) sum.add(part);
  totals = sum;
}

}  // namespace traceloom
