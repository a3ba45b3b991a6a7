#include "analysis/rank_waits.h"

#include "analysis/matched_waits.h"

#include <algorithm>
#include <iterator>

namespace traceloom {
namespace {

using StepKey = std::pair<std::int64_t, std::int64_t>;

StepKey key_of(const StepRoles& step) {
  return {step.step.epoch, step.step.number};
}

// The places of the steps that count, ascending by key; of equal keys the first one.
std::vector<std::pair<StepKey, std::size_t>> number_steps(const RankRoles& rank) {
  std::vector<std::pair<StepKey, std::size_t>> steps;
  steps.reserve(rank.steps.size());
  for (std::size_t i = 0; i < rank.steps.size(); ++i)
    if (rank.steps[i].step.counted) steps.emplace_back(key_of(rank.steps[i]), i);
  std::sort(steps.begin(), steps.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

// Fills `ranks`, `steps` and `step_index`.
void match_steps(const std::vector<RankRoles>& roles, RankWaits& waits) {
  std::vector<std::vector<std::pair<StepKey, std::size_t>>> known;
  for (std::size_t rank = 0; rank < roles.size(); ++rank) {
    known.push_back(number_steps(roles[rank]));
    if (known.back().empty())
      known.pop_back();
    else
      waits.ranks.push_back(rank);
  }
  if (known.empty()) return;
  for (const auto& [key, index] : known.front()) waits.steps.push_back(key);
  for (const auto& steps : known)
    std::erase_if(waits.steps, [&](const StepKey& key) {
      const auto at = std::lower_bound(steps.begin(), steps.end(), std::pair{key, std::size_t{0}});
      return at == steps.end() || at->first != key;
    });
  for (const auto& steps : known) {
    std::vector<std::size_t>& places = waits.step_index.emplace_back();
    places.reserve(waits.steps.size());
    auto step = steps.begin();
    for (const StepKey& key : waits.steps) {
      while (step->first != key) ++step;
      places.push_back(step->second);
    }
  }
}

Intervals barriers_of(const RankEvents& rank) {
  Intervals found;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::barrier) found.push_back(span.interval());
  });
  return unite(std::move(found));
}

bool any_communication(const std::vector<RankRoles>& roles) {
  return std::any_of(roles.begin(), roles.end(),
                     [](const RankRoles& rank) { return !rank.sets[Role::communication].empty(); });
}

// Time in which a rank meets others, of each of its steps.
std::vector<std::int64_t> meeting_ns(const RankRoles& roles, const Intervals& barriers,
                                     MeetingKind kind) {
  std::vector<std::int64_t> ns;
  if (kind == MeetingKind::collectives) {
    for (const StepRoles& step : roles.steps) ns.push_back(step.raw[Role::communication]);
    return ns;
  }
  Intervals times;
  for (const StepRoles& step : roles.steps) times.push_back(step.step.time);
  return totals_in(barriers, times);
}

// What a rank does behind whose back no other rank waits in the same meeting.
RoleTimes own_times(const RankRoles& roles, const std::vector<std::size_t>& steps,
                    const Intervals& barriers) {
  Intervals times;
  for (const std::size_t i : steps) times.push_back(roles.steps[i].step.time);
  const std::vector<std::int64_t> cpu_in_barriers =
      totals_in(intersect(barriers, roles.sets[Role::cpu]), times);
  RoleTimes own;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    own.add(roles.steps[steps[i]].exclusive);
    own[Role::cpu] -= cpu_in_barriers[i];
  }
  own[Role::communication] = 0;
  for (std::size_t i = 0; i < kRoleCount; ++i)
    own[static_cast<Role>(i)] /= static_cast<std::int64_t>(std::max<std::size_t>(steps.size(), 1));
  return own;
}

// From times in meetings to waits and delays.
void compare_ranks(RankWaits& waits) {
  waits.delay_ns.assign(waits.ranks.size(), std::vector<std::int64_t>(waits.steps.size(), 0));
  for (std::size_t step = 0; step < waits.steps.size() && waits.ranks.size() > 1; ++step) {
    std::vector<std::int64_t> ns;
    for (const std::vector<std::int64_t>& waited : waits.wait_ns) ns.push_back(waited[step]);
    std::nth_element(ns.begin(), ns.begin() + 1, ns.end());
    const std::int64_t least = *std::min_element(ns.begin(), ns.begin() + 2);
    const std::int64_t next = std::max(ns[0], ns[1]);
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
      std::int64_t& waited = waits.wait_ns[rank][step];
      waits.delay_ns[rank][step] = waited == least ? next - least : 0;
      waited -= least;
    }
  }
  waits.slack_ns = waits.wait_ns;
}

// Who waits least came last.
void find_critical(RankWaits& waits) {
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::size_t last = 0;
    for (std::size_t rank = 1; rank < waits.ranks.size(); ++rank)
      if (waits.wait_ns[rank][step] < waits.wait_ns[last][step]) last = rank;
    waits.critical.push_back(last);
  }
}

// One by one, where collectives can be matched.
void compare_matched(const Run& run, const std::vector<RankRoles>& roles, RankWaits& waits) {
  if (waits.kind != MeetingKind::collectives) return;
  std::optional<MatchedWaits> found =
      find_matched_waits(run, roles, {waits.ranks, waits.step_index});
  if (!found) return;
  waits.one_by_one = true;
  waits.wait_ns = std::move(found->wait_ns);
  waits.delay_ns = std::move(found->delay_ns);
}

std::int64_t mean_step(const std::vector<RankRoles>& roles, const RankWaits& waits) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for (const std::size_t step : waits.step_index[rank]) {
      sum += roles[waits.ranks[rank]].steps[step].total_ns;
      ++count;
    }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

std::vector<RankRoles> find_all_roles(const Run& run) {
  std::vector<RankRoles> roles(run.ranks.size());
  for_each_parallel(run.ranks.size(), run.threads,
                    [&](std::size_t i) { roles[i] = find_roles(run, run.ranks[i]); });
  return roles;
}

RankWaits find_waits(const Run& run, const std::vector<RankRoles>& roles) {
  RankWaits waits;
  match_steps(roles, waits);
  std::vector<Intervals> barriers;
  bool any_barrier = false;
  const bool collectives = any_communication(roles);
  for (const std::size_t rank : waits.ranks) {
    barriers.push_back(collectives ? Intervals{} : barriers_of(run.ranks[rank]));
    any_barrier |= !barriers.back().empty();
  }
  if (waits.ranks.size() > 1 && !waits.steps.empty())
    waits.kind = collectives   ? MeetingKind::collectives
                 : any_barrier ? MeetingKind::barriers
                               : MeetingKind::none;
  for (std::size_t i = 0; i < waits.ranks.size(); ++i) {
    const RankRoles& rank = roles[waits.ranks[i]];
    const std::vector<std::int64_t> all = meeting_ns(rank, barriers[i], waits.kind);
    waits.wait_ns.emplace_back().reserve(waits.step_index[i].size());
    for (const std::size_t step : waits.step_index[i])
      waits.wait_ns.back().push_back(waits.kind == MeetingKind::none ? 0 : all[step]);
    waits.own_ns.push_back(own_times(rank, waits.step_index[i], barriers[i]));
  }
  compare_ranks(waits);
  compare_matched(run, roles, waits);
  find_critical(waits);
  waits.mean_step_ns = mean_step(roles, waits);
  return waits;
}

}  // namespace traceloom
