#include "analysis/findings/straggler.h"

#include "analysis/replay/what_if.h"
#include "base/arithmetic.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace traceloom {
namespace {

constexpr double kLeastDelayShare = 0.10;  // share of the mean step; less is noise
constexpr double kMostChance = 0.01;       // chance that a rank comes last so often by accident
constexpr double kClearShare = 0.05;       // share of the mean step, in one step
constexpr double kSeparation = 0.25;       // candidates wait less than this part of others' waits
constexpr double kMost = 0.80;             // share of all delays that a sporadic straggler needs
constexpr std::size_t kLeastSteps = 2;
constexpr std::size_t kSomeSteps = 10;
constexpr std::size_t kManySteps = 20;

double share_of_step(std::int64_t ns, const RankWaits& waits) {
  return ratio(ns, waits.mean_step_ns);
}

bool is_much(std::int64_t ns, const RankWaits& waits) {
  return share_of_step(ns, waits) >= kLeastDelayShare;
}

double share_of_steps(std::size_t count, const RankWaits& waits) {
  return ratio(static_cast<std::int64_t>(count), static_cast<std::int64_t>(waits.steps.size()));
}

bool is_most(std::int64_t ns, std::int64_t of_ns) {
  return static_cast<double>(ns) >= kMost * static_cast<double>(of_ns);
}

bool is_far_less(std::int64_t wait_ns, std::int64_t than_ns) {
  return static_cast<double>(wait_ns) <= kSeparation * static_cast<double>(than_ns);
}

// The distance between the `count` ranks that wait least and the next one; count is 0 if they do
// not wait far less.
struct Gap {
  std::int64_t ns = 0;
  std::size_t count = 0;
};

// `waited` ascends.
Gap find_gap(const std::vector<std::int64_t>& waited) {
  Gap found;
  for (std::size_t k = 1; k <= waited.size() / 2; ++k) {
    const std::int64_t ns = waited[k] - waited[k - 1];
    if (is_far_less(waited[k - 1], waited[k]) && ns > found.ns) found = {ns, k};
  }
  return found;
}

// Returns the wait in a mean step for the rank that is waited for most in each step. If several
// ranks come last together, none has a delay of its own; the gap to the next rank is used for them.
std::int64_t changing_delay(const RankWaits& waits) {
  std::int64_t sum = 0;
  std::vector<std::int64_t> waited(waits.ranks.size());
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::int64_t most = 0;
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
      most = std::max(most, waits.delay_ns[rank][step]);
      waited[rank] = waits.wait_ns[rank][step];
    }
    std::sort(waited.begin(), waited.end());
    add_to(sum, std::max(most, find_gap(waited).ns));
  }
  return waits.steps.empty() ? 0 : sum / static_cast<std::int64_t>(waits.steps.size());
}

// Returns the indices of the ranks that wait far less than all others; empty if there are none.
std::vector<std::size_t> find_candidates(const RankWaits& waits, std::int64_t& delay_ns) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    order.emplace_back(waits.mean_wait_ns(rank), rank);
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> means;
  means.reserve(order.size());
  for (const auto& [ns, rank] : order) means.push_back(ns);
  const Gap gap = find_gap(means);
  delay_ns = gap.ns;
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < gap.count; ++i) candidates.push_back(order[i].second);
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

// Removes candidates that wait equally long outside of matched collectives, for example for the
// previous stage of a pipeline: that is the reason why they are late.
void leave_out_waiting(const RankWaits& waits, std::int64_t delay_ns,
                       std::vector<std::size_t>& candidates) {
  const auto waits_elsewhere = [&](std::size_t rank) {
    return waits.mean_slack_ns(rank) > delay_ns / 2;
  };
  if (!std::ranges::all_of(candidates, waits_elsewhere)) std::erase_if(candidates, waits_elsewhere);
}

// Returns the share of the steps in which one of `candidates` came last and all of them waited far
// less than the others. The second condition excludes noise, since some rank is last in every step.
double share_of_last(const RankWaits& waits, const std::vector<std::size_t>& candidates) {
  std::size_t times = 0;
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::int64_t most = 0;
    std::int64_t least_of_others = std::numeric_limits<std::int64_t>::max();
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
      const std::int64_t ns = waits.wait_ns[rank][step];
      if (std::binary_search(candidates.begin(), candidates.end(), rank))
        most = std::max(most, ns);
      else
        least_of_others = std::min(least_of_others, ns);
    }
    if (is_far_less(most, least_of_others) &&
        share_of_step(least_of_others - most, waits) >= kClearShare)
      ++times;
  }
  return share_of_steps(times, waits);
}

// Returns the share of the steps in which others wait for the rank.
double share_of_delays(const RankWaits& waits, std::size_t rank) {
  const auto& delays = waits.delay_ns[rank];
  const auto times = std::count_if(delays.begin(), delays.end(),
                                   [&](std::int64_t ns) { return is_much(ns, waits); });
  return share_of_steps(static_cast<std::size_t>(times), waits);
}

// The data that are compared to name ranks.
struct Comparison {
  const Run& run;
  const std::vector<RankRoles>& roles;
  const RankWaits& waits;
  std::int64_t changing_ns;  // changing_delay(waits), which visits all steps
};

// Makes a Straggler of ranks and their delay. It has the cause of the rank if there is only one and
// that has a cause.
Straggler straggler_of(const Comparison& all, const std::vector<std::size_t>& ranks,
                       std::int64_t delay_ns) {
  Straggler found;
  for (const std::size_t rank : ranks)
    found.candidates.push_back(all.run.ranks[all.waits.ranks[rank]].rank);
  found.delay_ns = delay_ns;
  found.delay_share = share_of_step(delay_ns, all.waits);
  found.cause = StragglerCause::inconclusive;
  if (ranks.size() == 1) explain(all.run, all.roles, all.waits, ranks.front(), found);
  if (all.waits.root_wait_ns > 0)
    found.why += "; rank 0 is taken to wait in event/forward, where DDP sends its buffers";
  return found;
}

Straggler stragglers_of(const Comparison& all, const std::vector<std::size_t>& ranks,
                        std::int64_t delay_ns) {
  Straggler found = straggler_of(all, ranks, delay_ns);
  found.each_of_them = true;
  found.why = "each in collectives of its own";
  return found;
}

bool has_cause(const Straggler& found) {
  return found.cause != StragglerCause::inconclusive;
}

void name(Straggler& found, std::string_view confidence) {
  found.rank = found.candidates.front();
  found.confidence = confidence;
}

std::string_view confidence_of(const RankWaits& waits) {
  if (waits.root_wait_ns > 0) return "low";
  return waits.steps.size() >= kManySteps ? "high" : "medium";
}

std::int64_t most_delay(const RankWaits& waits, const std::vector<std::size_t>& ranks) {
  std::int64_t most = 0;
  for (const std::size_t rank : ranks) most = std::max(most, waits.mean_delay_ns(rank));
  return most;
}

// Judges the rank that waits far less than all others and comes last in nearly all steps, or in
// some.
Straggler find_single(const Comparison& all, std::size_t rank, std::int64_t gap_ns,
                      bool is_persistent) {
  const RankWaits& waits = all.waits;
  const std::size_t steps = waits.steps.size();
  // Its own delay is used, unless that is too small because other ranks keep waiting for reasons of
  // their own.
  const std::int64_t own_ns = waits.mean_delay_ns(rank);
  const bool is_gap = gap_ns > own_ns && !is_much(own_ns, waits);
  Straggler found = straggler_of(all, {rank}, is_gap ? gap_ns : own_ns);
  found.delay_is_gap = is_gap;
  // Time without events proves little in only a few steps.
  const bool has_clear_cause = has_cause(found) && found.cause != StragglerCause::idle;
  // The rank is not sporadic if the same happens to other ranks in other steps.
  const bool is_sporadic =
      !is_persistent && has_cause(found) && steps >= kSomeSteps && is_most(gap_ns, all.changing_ns);
  if (is_persistent && (has_clear_cause || steps >= kFewSteps)) {
    name(found, confidence_of(waits));
  } else if (is_sporadic) {
    name(found, "low");
  } else {
    found.cause = StragglerCause::inconclusive;
    if (!is_persistent) found.why = "in some steps only";
  }
  return found;
}

// Finds the ranks that wait far less than all others.
std::optional<Straggler> find_by_waits(const Comparison& all) {
  const RankWaits& waits = all.waits;
  std::int64_t gap_ns = 0;
  std::vector<std::size_t> candidates = find_candidates(waits, gap_ns);
  const double share = share_of_last(waits, candidates);
  leave_out_waiting(waits, gap_ns, candidates);
  // If some of them have delays of their own, the others are only in groups in which they wait for
  // no rank.
  const auto is_delayer = [&](std::size_t rank) {
    return is_much(waits.mean_delay_ns(rank), waits);
  };
  const bool are_delayers = std::any_of(candidates.begin(), candidates.end(), is_delayer);
  if (are_delayers) std::erase_if(candidates, [&](std::size_t rank) { return !is_delayer(rank); });
  if (candidates.empty() || !is_much(gap_ns, waits)) return std::nullopt;
  const std::size_t steps = waits.steps.size();
  const bool is_persistent = share >= kSteadyShare && steps >= kLeastSteps;
  if (!is_persistent && steps >= kLeastSteps && steps < kFewSteps) return std::nullopt;
  Straggler found;
  if (steps < kLeastSteps) {
    found = straggler_of(all, candidates, gap_ns);
    found.cause = StragglerCause::inconclusive;
    found.why = "one step is not enough to compare ranks";
    found.delay_is_gap = true;
  } else if (candidates.size() == 1) {
    found = find_single(all, candidates.front(), gap_ns, is_persistent);
  } else if (are_delayers) {
    found = stragglers_of(all, candidates, most_delay(waits, candidates));
  } else {
    found = straggler_of(all, candidates, gap_ns);
    found.delay_is_gap = true;
    found.why = "the recorded events do not show which of these ranks is late";
  }
  found.waited_for_share = share;
  if (steps >= kLeastSteps)
    found.pattern = is_persistent ? DelayPattern::persistent : DelayPattern::sporadic;
  return found;
}

// Finds the ranks for which others wait in nearly every step, each with a cause, even if further
// ranks wait for no other.
std::optional<Straggler> find_by_delays(const Comparison& all) {
  const RankWaits& waits = all.waits;
  if (waits.steps.size() < kFewSteps) return std::nullopt;
  std::vector<std::size_t> ranks;
  Straggler most;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
    const std::int64_t delay_ns = waits.mean_delay_ns(rank);
    if (share_of_delays(waits, rank) < kSteadyShare || !is_much(delay_ns, waits)) continue;
    Straggler one = straggler_of(all, {rank}, delay_ns);
    if (!has_cause(one)) continue;
    ranks.push_back(rank);
    if (delay_ns > most.delay_ns) most = std::move(one);
  }
  if (ranks.empty()) return std::nullopt;
  if (ranks.size() > 1)
    most = stragglers_of(all, ranks, most.delay_ns);
  else
    name(most, confidence_of(waits));
  most.pattern = DelayPattern::persistent;
  return most;
}

// Finds the rank to which most of the delay in some of the steps belongs.
std::optional<Straggler> find_now_and_then(const Comparison& all) {
  const RankWaits& waits = all.waits;
  std::size_t last = 0;
  for (std::size_t rank = 1; rank < waits.ranks.size(); ++rank)
    if (waits.mean_delay_ns(rank) > waits.mean_delay_ns(last)) last = rank;
  const std::int64_t delay_ns = waits.mean_delay_ns(last);
  if (waits.steps.size() < kSomeSteps || !is_much(delay_ns, waits) ||
      !is_most(delay_ns, all.changing_ns))
    return std::nullopt;
  Straggler found = straggler_of(all, {last}, delay_ns);
  if (!has_cause(found)) return std::nullopt;
  name(found, "low");
  found.pattern = DelayPattern::sporadic;
  return found;
}

// Returns a bound for the probability that some rank comes last in at least `times` of the steps by
// chance: the number of ranks times the upper tail of the binomial distribution.
double chance_to_be_last(std::size_t times, std::size_t steps, std::size_t ranks) {
  const double p = 1 / static_cast<double>(ranks);
  const double n = static_cast<double>(steps);
  // The logarithm of the number of ways to choose k of n, which grows with k by this much.
  double log_ways = 0;
  double sum = 0;
  for (std::size_t k = 0; k <= steps; ++k) {
    const auto of = static_cast<double>(k);
    if (k > 0) log_ways += std::log((n - of + 1) / of);
    if (k >= times) sum += std::exp(log_ways + of * std::log(p) + (n - of) * std::log1p(-p));
  }
  return static_cast<double>(ranks) * sum;
}

// Finds the rank that comes last in nearly all steps, by little.
std::optional<Straggler> find_steady(const Comparison& all) {
  const RankWaits& waits = all.waits;
  const std::size_t steps = waits.steps.size();
  if (steps < kFewSteps) return std::nullopt;
  const std::vector<std::size_t> times = waits.times_last();
  const auto most = std::max_element(times.begin(), times.end());
  const auto last = static_cast<std::size_t>(most - times.begin());
  const std::int64_t delay_ns = waits.mean_delay_ns(last);
  if (share_of_steps(*most, waits) < kSteadyShare || share_of_step(delay_ns, waits) < kWorthNaming)
    return std::nullopt;
  Straggler found = straggler_of(all, {last}, delay_ns);
  found.is_small = true;
  found.pattern = DelayPattern::persistent;
  if (chance_to_be_last(*most, steps, waits.ranks.size()) < kMostChance)
    name(found, steps >= kManySteps ? "medium" : "low");
  return found;
}

LastRanks find_last(const Run& run, const RankWaits& waits) {
  const std::vector<std::size_t> times = waits.times_last();
  LastRanks last;
  last.steps = waits.steps.size();
  last.times = *std::max_element(times.begin(), times.end());
  if (last.times == 0) return last;
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    if (times[rank] != last.times) continue;
    if (last.ranks.empty()) last.delay_ns = waits.mean_delay_ns(rank);
    last.ranks.push_back(run.ranks[waits.ranks[rank]].rank);
  }
  last.is_by_chance = chance_to_be_last(last.times, last.steps, times.size()) >= kMostChance;
  return last;
}

// Returns the share of the steps in which one of the candidates came last.
double candidates_share(const Run& run, const RankWaits& waits, const Straggler& found) {
  const std::vector<std::size_t> times = waits.times_last();
  std::size_t sum = 0;
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    if (std::ranges::count(found.candidates, run.ranks[waits.ranks[rank]].rank) > 0)
      sum += times[rank];
  return share_of_steps(sum, waits);
}

// Describes a run in which no rank stands out.
Straggler find_changing(const Comparison& all) {
  Straggler found;
  if (all.waits.steps.size() < kFewSteps || !is_much(all.changing_ns, all.waits)) return found;
  found.pattern = DelayPattern::changing;
  found.changing_ns = all.changing_ns;
  return found;
}

Straggler find_by_any(const Comparison& all) {
  for (const auto find : {find_by_waits, find_by_delays, find_now_and_then, find_steady})
    if (const std::optional<Straggler> found = find(all)) return *found;
  return find_changing(all);
}

// Returns what `explain` compares, for a rank and its like alone; sets the rank's place among them.
RankWaits waits_among_like(const Comparison& all, const Mesh& mesh, std::int64_t named,
                           std::size_t& place) {
  const RankWaits& waits = all.waits;
  RankWaits like;
  like.mean_step_ns = waits.mean_step_ns;
  like.steps = waits.steps;
  for (std::size_t i = 0; i < waits.ranks.size(); ++i) {
    const std::int64_t rank = all.run.ranks[waits.ranks[i]].rank;
    if (mesh.stage_of(rank) != mesh.stage_of(named)) continue;
    if (rank == named) place = like.ranks.size();
    like.ranks.push_back(waits.ranks[i]);
    like.step_index.push_back(waits.step_index[i]);
    like.own_ns.push_back(waits.own_ns[i]);
  }
  return like;
}

// True if another rank does the same work.
bool has_like(const Mesh& mesh, std::int64_t rank) {
  return std::ranges::any_of(mesh.places, [&](const auto& other) {
    return other.first != rank && other.second.stage == mesh.stage_of(rank);
  });
}

// True if these are the ranks of all stages and parts of one replica.
bool is_replica(const Mesh& mesh, const std::set<std::int64_t>& ranks) {
  const MeshPlace* const first = mesh.place_of(*ranks.begin());
  return first != nullptr && mesh.data > 1 && std::ranges::all_of(mesh.places, [&](const auto& of) {
           return ranks.contains(of.first) == (of.second.data == first->data);
         });
}

// The ranks that hold up the job by a replay (WhatIf::odd()), whoever waits for whom in messages.
// Returns nullopt if there are none.
std::optional<Straggler> find_by_replay(const Comparison& all, const Mesh& mesh,
                                        const WhatIf& job) {
  Straggler found;
  const Gain* named = nullptr;
  const std::vector<Gain> odd = job.odd();
  const auto ranks_in = [](const Gain& gain) {
    std::set<std::int64_t> ranks;
    for (const Repair& repair : gain.repairs)
      if (repair.kind == Repair::Kind::rank) ranks.insert(repair.ranks.front());
    return ranks;
  };
  // A gain of ranks alone goes before one that has a stage or a link in it.
  const auto order = [&](const Gain& gain) {
    return std::pair(ranks_in(gain).size() == gain.repairs.size(), gain.repairs.size());
  };
  for (const Gain& one : odd)
    if (!ranks_in(one).empty() && (named == nullptr || order(one) > order(*named))) named = &one;
  if (named == nullptr) return std::nullopt;
  const std::set<std::int64_t> ranks = ranks_in(*named);
  found.candidates.assign(ranks.begin(), ranks.end());
  found.is_gain = true;
  found.delay_ns = named->gain_ns;
  const Repair alone{Repair::Kind::rank, {*ranks.begin()}};
  if (ranks.size() == 1)
    for (const Gain& single : job.singles)
      if (single.repairs.front() == alone)
        found.delay_ns = std::max<std::int64_t>(single.gain_ns, 0);
  found.gain_words = job.words(*named);
  found.delay_share = share_of_step(found.delay_ns, all.waits);
  found.pattern = job.is_steady(*named) ? DelayPattern::persistent : DelayPattern::sporadic;
  if (ranks.size() > 1) {
    found.cause = StragglerCause::inconclusive;
    found.each_of_them = true;
    found.why = is_replica(mesh, ranks) ? "they are all of one replica, whose batches may be longer"
                                        : "each is slower than those like it";
    return found;
  }
  std::size_t place = 0;
  const RankWaits like = waits_among_like(all, mesh, *ranks.begin(), place);
  explain(all.run, all.roles, like, place, found);
  const bool is_sporadic = found.pattern == DelayPattern::sporadic;
  name(found, is_sporadic || all.waits.steps.size() < kFewSteps ? "low" : confidence_of(all.waits));
  return found;
}

// In a mesh whose ranks do different work the replay tells who is late; whose stage has no further
// rank is compared with the others by waits. Where all do the same, it tells ranks apart that waits
// do not.
Straggler among_like(const Comparison& all, const Mesh& mesh, Straggler by_waits) {
  const bool is_open = by_waits.candidates.size() > 1 && !by_waits.each_of_them;
  if (!mesh.splits_model() && !is_open) return by_waits;
  const WhatIf& job = find_job_gains(all.run);
  if (std::optional<Straggler> found = find_by_replay(all, mesh, job)) return *std::move(found);
  if (!mesh.splits_model()) return by_waits;
  const bool computes =
      by_waits.cause == StragglerCause::compute || by_waits.cause == StragglerCause::slower_device;
  if (by_waits.rank && !has_like(mesh, *by_waits.rank) && !computes) return by_waits;
  Straggler found;
  found.why = job.doubt();
  if (!found.why.empty()) found.cause = StragglerCause::inconclusive;
  return found;
}

}  // namespace

std::string rank_list(const Straggler& found) {
  return ranks_words(found.candidates, found.each_of_them ? RankStyle::all : RankStyle::either);
}

Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits) {
  if (waits.kind == MeetingKind::none || waits.mean_step_ns <= 0) {
    Straggler unknown;
    if (run.ranks.size() > 1) unknown.cause = StragglerCause::inconclusive;
    return unknown;
  }
  const Comparison all{run, roles, waits, changing_delay(waits)};
  Straggler found = find_by_any(all);
  const Mesh& mesh = find_mesh(run);
  found = among_like(all, mesh, std::move(found));
  found.measured_ns = all.changing_ns;
  found.step_ns = waits.mean_step_ns;
  found.last = find_last(run, waits);
  // Who came last in a mesh may have been waiting for messages.
  if (mesh.splits_model() && found.last.ranks != found.candidates) {
    found.last.ranks.clear();
    found.last.times = 0;
  }
  if (found.candidates.size() == 1 || found.each_of_them)
    found.waited_for_share = candidates_share(run, waits, found);
  return found;
}

}  // namespace traceloom
