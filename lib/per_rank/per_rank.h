// per_rank: a value made of the events of each rank, where these are, for all processes of a team.
//
//   const std::vector<RankRoles> roles =
//       per_rank<RankRoles>(run, [&](std::size_t rank) { return find_roles(run, run.ranks[rank]);
//       });
//
// An analysis reads events in such functions only. Then it gives the same on each process of a
// team, whichever of them has the events of a rank, and a run alone is a team of one.
//
// make(rank) is called once for each rank (an index into Run::ranks), from several threads, on the
// process that has the rank's events. The values reach the others by team/wire.h. Texts in a value
// must be its own; numbers of labels, tracks and details mean the same everywhere. All processes
// call these functions in the same order. If make() throws, all of them throw.
#pragma once

#include "run/run.h"
#include "team/wire.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace traceloom {

namespace per_rank_detail {

// Processes send each other the values of so many ranks at a time, which bounds the messages.
inline constexpr std::size_t kRanksAMessage = 64;
// A run that is alone has the values of so many ranks in memory at a time, made by as many threads.
inline constexpr std::size_t kRanksAtATime = 8;

// Makes the values of ranks [begin, end) of a list whose events are here.
template <typename Value, typename Make>
void make_own(const Run& run, const std::vector<std::size_t>& ranks, std::size_t begin,
              std::size_t end, Make& make, std::vector<Value>& values) {
  for_each_parallel(end - begin, run.threads, [&](std::size_t i) {
    const std::size_t rank = ranks[begin + i];
    if (run.ranks[rank].is_here) values[begin + i] = make(rank);
  });
}

// Makes the values of ranks [begin, end) known to all processes.
template <typename Value>
void share_values(const Run& run, const std::vector<std::size_t>& ranks, std::size_t begin,
                  std::size_t end, std::vector<Value>& values) {
  std::vector<std::pair<std::size_t, Value>> own;
  for (std::size_t i = begin; i < end; ++i)
    if (run.ranks[ranks[i]].is_here) own.emplace_back(i, std::move(values[i]));
  for (std::vector<std::pair<std::size_t, Value>>& made : share(*run.team, std::move(own)))
    for (auto& [i, value] : made) values[i] = std::move(value);
}

}  // namespace per_rank_detail

// Calls use(rank, value) for some ranks, in their order. A run that is alone has the values of a
// few ranks in memory at a time.
template <typename Value, typename Make, typename Use>
void for_each_rank(const Run& run, const std::vector<std::size_t>& ranks, Make make, Use use) {
  using namespace per_rank_detail;
  Team& team = team_or_alone(run.team);
  std::vector<Value> values(ranks.size());
  if (!team.is_alone()) team.agree([&] { make_own(run, ranks, 0, ranks.size(), make, values); });
  const std::size_t at_a_time = team.is_alone() ? kRanksAtATime : kRanksAMessage;
  for (std::size_t begin = 0; begin < ranks.size(); begin += at_a_time) {
    const std::size_t end = std::min(begin + at_a_time, ranks.size());
    if (team.is_alone())
      make_own(run, ranks, begin, end, make, values);
    else
      share_values(run, ranks, begin, end, values);
    for (std::size_t i = begin; i < end; ++i) use(ranks[i], std::exchange(values[i], Value{}));
  }
}

// Returns the indices of all ranks.
inline std::vector<std::size_t> all_ranks(const Run& run) {
  std::vector<std::size_t> ranks(run.ranks.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  return ranks;
}

// Returns the values of some ranks, in their order.
template <typename Value, typename Make>
std::vector<Value> per_rank(const Run& run, const std::vector<std::size_t>& ranks, Make make) {
  std::vector<Value> values(ranks.size());
  if (team_or_alone(run.team).is_alone()) {
    per_rank_detail::make_own(run, ranks, 0, ranks.size(), make, values);
    return values;
  }
  std::size_t next = 0;
  for_each_rank<Value>(run, ranks, std::move(make),
                       [&](std::size_t, Value value) { values[next++] = std::move(value); });
  return values;
}

// Returns the values of all ranks.
template <typename Value, typename Make>
std::vector<Value> per_rank(const Run& run, Make make) {
  return per_rank<Value>(run, all_ranks(run), std::move(make));
}

}  // namespace traceloom
