#include "analysis/findings/loader_waits.h"

#include "analysis/numbers.h"
#include "base/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace traceloom {
namespace {

// Returns the waits between the first and the last step that lie in no step. The wait at the end of
// an epoch, when no data is left, does not count.
std::int64_t between_steps(const RankRoles& roles, const RankEvents& rank, std::int64_t epoch) {
  Intervals gaps;
  std::optional<std::int64_t> before_ns;
  std::uint32_t run = 0;
  for (const StepRoles& step : roles.steps) {
    if (step.step.epoch != epoch) continue;
    if (step.step.run != std::exchange(run, step.step.run)) before_ns.reset();
    if (before_ns) gaps.push_back({*before_ns, step.step.time.from_ns});
    before_ns = step.step.time.to_ns;
  }
  const Intervals waits = intersect(unpacked(roles.sets[Role::dataloader]), unite(std::move(gaps)));
  return total_ns(subtract(waits, unite(rank.steps.probes)));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Returns the mean of the values that are less than two median deviations away from the median.
double pruned_mean(const std::vector<std::int64_t>& numbers) {
  std::vector<double> values(numbers.begin(), numbers.end());
  const auto from_middle = [middle = median(values)](double ns) { return std::abs(ns - middle); };
  std::vector<double> deviations = values;
  std::ranges::transform(values, deviations.begin(), from_middle);
  const double deviation = median(std::move(deviations));
  if (deviation > 0)
    std::erase_if(values, [&](double ns) { return from_middle(ns) / deviation >= 2; });
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Judges a mean step of all ranks, if there are no steps in which the ranks can be compared.
void judge_by_mean(const std::vector<RankRoles>& roles, LoaderJob& job) {
  StepSum steps;
  for (const RankRoles& rank : roles) steps.add_counted(rank.steps);
  job.late_ns = steps.mean().exclusive[Role::dataloader];
  job.late_share = steps.shares()[Role::dataloader];
}

// The late data of one step. `felt` is the wait of a rank for data beyond its wait for others.
struct LateData {
  std::int64_t felt_ns = 0;     // the longest of all ranks
  std::int64_t longest_ns = 0;  // the longest wait for data, and (next_ns) the second longest
  std::int64_t next_ns = 0;
  std::size_t felt_rank = 0;
  std::size_t longest_rank = 0;
  std::int64_t step_ns = 0;  // on the rank on which the step takes longest

  void add(std::size_t rank, std::int64_t wait_ns, std::int64_t slack_ns, std::int64_t total_ns) {
    if (wait_ns - slack_ns > felt_ns) {
      felt_ns = wait_ns - slack_ns;
      felt_rank = rank;
    }
    next_ns = std::max(next_ns, std::min(wait_ns, longest_ns));
    if (wait_ns > longest_ns) {
      longest_ns = wait_ns;
      longest_rank = rank;
    }
    step_ns = std::max(step_ns, total_ns);
  }
  bool is_clear() const {
    constexpr double kClear = 0.05;  // share of the step
    return felt_rank == longest_rank &&
           static_cast<double>(longest_ns - next_ns) >= kClear * static_cast<double>(step_ns);
  }
};

// Returns the rank that clearly has its data last in nearly all steps, if that costs much, as an
// index into RankWaits::ranks.
std::optional<std::size_t> find_late_rank(const std::vector<LateData>& steps, std::size_t ranks,
                                          double late_share) {
  constexpr std::size_t kFewest = 4;
  constexpr double kMuch = 0.10;
  constexpr double kNearlyAll = 0.80;
  if (ranks < 2 || steps.size() < kFewest || late_share < kMuch) return std::nullopt;
  std::vector<std::size_t> times(ranks, 0);
  for (const LateData& step : steps)
    if (step.is_clear()) ++times[step.felt_rank];
  const auto most = std::max_element(times.begin(), times.end());
  if (static_cast<double>(*most) < kNearlyAll * static_cast<double>(steps.size()))
    return std::nullopt;
  return static_cast<std::size_t>(most - times.begin());
}

// Judges the steps that the ranks have in common.
void judge_by_steps(const std::vector<RankRoles>& roles, const RankWaits& waits, LoaderJob& job) {
  std::vector<LateData> steps(waits.steps.size());
  for (std::size_t i = 0; i < waits.ranks.size(); ++i)
    for_each_shared(roles[waits.ranks[i]].steps, waits.step_index[i],
                    [&](std::size_t step, const StepRoles& found) {
                      steps[step].add(i, found.exclusive[Role::dataloader], waits.slack_ns(i, step),
                                      found.total_ns);
                    });
  std::int64_t felt_ns = 0;
  std::int64_t total_ns = 0;
  for (const LateData& step : steps) {
    add_to(felt_ns, step.felt_ns);
    add_to(total_ns, step.step_ns);
  }
  job.first_share = ratio(steps.front().felt_ns, felt_ns);
  job.late_ns = felt_ns / static_cast<std::int64_t>(steps.size());
  job.late_share = ratio(felt_ns, total_ns);
  if (waits.kind == MeetingKind::none) return;
  if (const auto rank = find_late_rank(steps, waits.ranks.size(), job.late_share))
    job.rank = roles[waits.ranks[*rank]].rank;
}

}  // namespace

std::vector<LoaderRow> find_loader_rows(const Run& run, const std::vector<RankRoles>& roles) {
  std::vector<LoaderRow> rows;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::map<std::int64_t, LoaderRow> epochs;
    Intervals host;
    for (const StepRoles& step : roles[i].steps)
      host.push_back(
          {std::min(step.step.time.from_ns, step.step.host.from_ns), step.step.host.to_ns});
    const std::vector<std::int64_t> waits =
        totals_in(unpacked(roles[i].sets[Role::dataloader]), host);
    auto wait = waits.begin();
    for (const StepRoles& step : roles[i].steps) {
      const std::int64_t wait_ns = *wait++;
      if (!step.step.counted) continue;
      std::int64_t host_ns = length_ns(step.step.host);
      if (run.ranks[i].steps.kind == StepKind::composer) add_to(host_ns, wait_ns);
      LoaderRow& row = epochs[step.step.epoch];
      ++row.steps;
      add_to(row.total_ns, step.total_ns);
      add_to(row.host_ns, host_ns);
      add_to(row.wait_ns, wait_ns);
      add_to(row.exposed_ns, step.exclusive[Role::dataloader]);
      if (!row.first_ns) row.first_ns = wait_ns;
      row.step_waits_ns.push_back(wait_ns);
      row.step_rest_ns.push_back(host_ns - wait_ns);
    }
    if (epochs.empty()) epochs[kNoId];
    for (auto& [epoch, row] : epochs) {
      row.rank = roles[i].rank;
      row.epoch = epoch;
      row.instrumented = run.ranks[i].kinds.waits > 0;
      row.between_ns = between_steps(roles[i], run.ranks[i], epoch);
      if (!row.instrumented) row.first_ns.reset();
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

LoaderJob judge_loader(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
                       const Straggler& straggler) {
  LoaderJob job;
  for (const RankEvents& rank : run.ranks) job.instrumented |= rank.kinds.waits > 0;
  if (waits.steps.empty())
    judge_by_mean(roles, job);
  else
    judge_by_steps(roles, waits, job);
  if (straggler.cause == StragglerCause::dataloader && straggler.holds_up_by_much())
    job.rank = straggler.rank;
  if (roles.size() == 1) job.rank = roles.front().rank;
  return job;
}

LoaderAnswer composer_rule(const LoaderRow& row) {
  constexpr std::size_t kLeastSamples = 10;
  if (!row.instrumented || row.step_waits_ns.size() < kLeastSamples) return LoaderAnswer::unknown;
  const double wait_ns = pruned_mean(row.step_waits_ns);
  return wait_ns > 1e6 && wait_ns > 0.01 * pruned_mean(row.step_rest_ns) ? LoaderAnswer::yes
                                                                         : LoaderAnswer::no;
}

namespace {

StepBasis basis_of(const std::vector<RankRoles>& roles, std::vector<std::size_t> ranks) {
  StepBasis basis;
  // Some ranks of an inference engine have only prefill steps, others only decode steps.
  std::vector<std::size_t> with_steps;
  for (const std::size_t rank : ranks)
    if (!roles[rank].steps.empty()) with_steps.push_back(rank);
  if (!with_steps.empty()) ranks = std::move(with_steps);
  for (const std::size_t rank : ranks) {
    basis.steps.add_counted(roles[rank].steps);
    if (!roles[rank].steps.empty()) basis.owner.phase = (*roles[rank].steps.begin()).step.phase;
  }
  basis.owner.ranks = ranks.size();
  basis.owner.steps = basis.steps.count();
  if (ranks.size() == 1 && roles.size() > 1) basis.owner.rank = roles[ranks.front()].rank;
  basis.ranks = std::move(ranks);
  return basis;
}

}  // namespace

std::string StepOwner::text() const {
  const std::string step = step_noun(phase);
  if (rank) return fmt::format("rank {}'s mean {}", *rank, step);
  return ranks > 1 ? fmt::format("the mean {} of {} ranks", step, ranks) : "the mean " + step;
}

void write_owner(JsonWriter& json, const StepOwner& owner) {
  json.member("text", owner.text());
  json.member("rank", owner.rank);
  json.member("ranks", owner.ranks);
  json.member("steps", owner.steps);
}

StepShare StepBasis::part(std::initializer_list<Role> roles) const {
  std::int64_t ns = 0;
  for (const Role role : roles) add_to(ns, steps.sum().exclusive[role]);
  return share(ns);
}

StepBasis mean_basis(const Run& run, const std::vector<RankRoles>& roles) {
  const auto is_marked = [](const RankEvents& rank) { return rank.steps.kind != StepKind::none; };
  const bool any = std::any_of(run.ranks.begin(), run.ranks.end(), is_marked);
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    if (!any || is_marked(run.ranks[rank])) ranks.push_back(rank);
  return basis_of(roles, std::move(ranks));
}

StepBasis choose_basis(const Run& run, const std::vector<RankRoles>& roles,
                       const Straggler& straggler, const LoaderJob& loader) {
  const std::optional<std::int64_t> late =
      straggler.holds_up_by_much() ? straggler.rank : loader.rank;
  for (std::size_t rank = 0; rank < roles.size(); ++rank)
    if (roles[rank].rank == late) return basis_of(roles, {rank});
  return mean_basis(run, roles);
}

bool is_lone_batch(const Run& run, const StepBasis& basis) {
  std::size_t waits = 0;
  for (const std::size_t rank : basis.ranks) {
    if (run.ranks[rank].steps.kind != StepKind::none) return false;
    waits += run.ranks[rank].kinds.waits;
  }
  return waits <= basis.ranks.size();
}

}  // namespace traceloom
