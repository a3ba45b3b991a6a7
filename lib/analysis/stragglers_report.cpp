#include "analysis/stragglers_report.h"

#include "analysis/steps_report.h"
#include "base/saturating.h"
#include "base/units.h"
#include "output/json_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace traceloom {
namespace {

constexpr double kLeastDelayShare = 0.10;  // of the mean step: less is noise
constexpr double kSeparation = 0.25;       // candidates wait less than that of what others wait
constexpr double kLeastShare = 0.80;       // of the steps in which a candidate came last
constexpr double kCauseShare = 0.50;       // of the delay, that a cause has to explain
constexpr std::size_t kLeastSteps = 2;
constexpr std::size_t kFewSteps = 4;  // in less a rank is named only with a cause
constexpr std::size_t kManySteps = 20;

std::int64_t mean_wait(const std::vector<std::int64_t>& ns) {
  if (ns.empty()) return 0;
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}, saturating_add) /
         static_cast<std::int64_t>(ns.size());
}

std::vector<std::int64_t> mean_waits(const RankWaits& waits) {
  std::vector<std::int64_t> means;
  for (const std::vector<std::int64_t>& ns : waits.wait_ns) means.push_back(mean_wait(ns));
  return means;
}

// How often each rank came last.
std::vector<std::size_t> times_last(const RankWaits& waits) {
  std::vector<std::size_t> times(waits.ranks.size(), 0);
  for (const std::size_t rank : waits.critical) ++times[rank];
  return times;
}

// In a mean step.
std::int64_t delay_of(const RankWaits& waits, std::size_t rank) {
  return mean_wait(waits.delay_ns[rank]);
}

// For whichever rank is waited for most, in a mean step.
std::int64_t changing_delay(const RankWaits& waits) {
  std::vector<std::int64_t> most(waits.steps.size(), 0);
  for (const std::vector<std::int64_t>& delays : waits.delay_ns)
    for (std::size_t step = 0; step < most.size(); ++step)
      most[step] = std::max(most[step], delays[step]);
  return mean_wait(most);
}

bool is_far_less(std::int64_t wait_ns, std::int64_t than_ns) {
  return static_cast<double>(wait_ns) <= kSeparation * static_cast<double>(than_ns);
}

// Indices of the ranks that wait far less than all others; empty when there are none such.
std::vector<std::size_t> find_candidates(const RankWaits& waits, std::int64_t& delay_ns) {
  const std::vector<std::int64_t> means = mean_waits(waits);
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
  std::size_t count = 0;
  delay_ns = 0;
  for (std::size_t k = 1; k <= order.size() / 2; ++k) {
    const std::int64_t gap = means[order[k]] - means[order[k - 1]];
    if (!is_far_less(means[order[k - 1]], means[order[k]]) || gap <= delay_ns) continue;
    delay_ns = gap;
    count = k;
  }
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// The share of the steps in which one of `candidates` came last, and all of them wait far less than
// the others there too: with noise somebody is the last in every step.
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
    if (least_of_others > most && is_far_less(most, least_of_others)) ++times;
  }
  return waits.steps.empty() ? 0
                             : static_cast<double>(times) / static_cast<double>(waits.steps.size());
}

std::int64_t median_of_others(const RankWaits& waits, std::size_t rank, Role role) {
  std::vector<std::int64_t> values;
  for (std::size_t other = 0; other < waits.ranks.size(); ++other)
    if (other != rank) values.push_back(waits.own_ns[other][role]);
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// In the steps that all ranks have.
std::uint64_t launches_of(const std::vector<RankRoles>& roles, const RankWaits& waits,
                          std::size_t rank) {
  std::uint64_t count = 0;
  for_each_shared(roles[waits.ranks[rank]].steps, waits.step_index[rank],
                  [&](std::size_t, const StepRoles& step) { count += step.step.device_ops; });
  return count;
}

// Whether the rank launched as much as the others did, so that its work is slower and not more.
bool launched_as_much(const std::vector<RankRoles>& roles, const RankWaits& waits,
                      std::size_t rank) {
  const auto own = static_cast<double>(launches_of(roles, waits, rank));
  for (std::size_t other = 0; other < waits.ranks.size(); ++other) {
    const auto count = static_cast<double>(launches_of(roles, waits, other));
    if (count < own * 0.98 || count > own * 1.02) return false;
  }
  return own > 0;
}

StragglerCause cause_of_role(const Run& run, const std::vector<RankRoles>& roles,
                             const RankWaits& waits, std::size_t rank, Role role) {
  const bool devices = run.ranks[waits.ranks[rank]].has_devices();
  switch (role) {
    case Role::dataloader:
      return StragglerCause::dataloader;
    case Role::kernel:
      return launched_as_much(roles, waits, rank) ? StragglerCause::clocks
                                                  : StragglerCause::compute;
    case Role::cpu:
      return devices ? StragglerCause::launch : StragglerCause::compute;
    case Role::runtime:
      return StragglerCause::launch;
    case Role::memcpy:
    case Role::memset:
      return StragglerCause::memcpy;
    case Role::other:
      return StragglerCause::idle;
    case Role::communication:
    case Role::count_:
      break;
  }
  return StragglerCause::inconclusive;
}

// The role in which the rank spends most more than the others, if that is much of the delay.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found) {
  Role most = Role::count_;
  std::int64_t excess_ns = 0;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    const std::int64_t excess = waits.own_ns[rank][role] - median_of_others(waits, rank, role);
    if (excess <= excess_ns) continue;
    excess_ns = excess;
    most = role;
  }
  found.cause = StragglerCause::inconclusive;
  if (static_cast<double>(excess_ns) < kCauseShare * static_cast<double>(found.delay_ns)) {
    found.why = "no role of its steps explains half of that";
    return;
  }
  found.cause = cause_of_role(run, roles, waits, rank, most);
  found.why = fmt::format("{} takes {} a step longer than on the median of the others",
                          role_name(most), format_duration(excess_ns));
}

// "rank 2", "ranks 0 or 2".
std::string rank_list(const std::vector<std::int64_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, " or "));
}

void write_verdict(const Straggler& found, std::string& text) {
  JsonWriter json(text);
  json.begin_object();
  json.key("rank");
  json.value(found.rank);
  json.key("cause");
  json.value(to_string(found.cause));
  json.key("confidence");
  json.value(found.confidence);
  json.key("candidates");
  json.begin_array();
  for (const std::int64_t rank : found.candidates) json.value(rank);
  json.end_array();
  json.key("pattern");
  json.value(found.pattern);
  json.key("waited_for_share");
  json.value(found.waited_for_share);
  json.key("delay_ns_per_step");
  json.value(found.delay_ns);
  json.key("delay_share");
  json.value(found.delay_share);
  json.key("why");
  json.value(found.why);
  json.end_object();
}

Table rows_table(const RankWaits& waits, const std::vector<RankRoles>& roles) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"steps", "Steps", ColumnKind::count, Readers::some},
               {"waited_for_share", "Last", ColumnKind::share},
               {"delay_ns_per_step", "Delay/step", ColumnKind::duration},
               {"wait_ns_per_step", "Wait/step", ColumnKind::duration},
               {"step_ns", "Step", ColumnKind::duration, Readers::most},
               {"own_kernel_ns", "Kernel", ColumnKind::duration, Readers::most},
               {"own_memcpy_ns", "Memcpy", ColumnKind::duration, Readers::some},
               {"own_runtime_ns", "Runtime", ColumnKind::duration, Readers::some},
               {"own_dataloader_ns", "Loader", ColumnKind::duration, Readers::most},
               {"own_cpu_ns", "CPU", ColumnKind::duration, Readers::most},
               {"own_other_ns", "Other", ColumnKind::duration, Readers::some}});
  const std::vector<std::int64_t> means = mean_waits(waits);
  const std::vector<std::size_t> last = times_last(waits);
  const auto steps = static_cast<std::int64_t>(waits.steps.size());
  for (std::size_t i = 0; i < waits.ranks.size() && steps > 0; ++i) {
    const RankRoles& rank = roles[waits.ranks[i]];
    std::int64_t total_ns = 0;
    for_each_shared(rank.steps, waits.step_index[i],
                    [&](std::size_t, const StepRoles& step) { add_to(total_ns, step.total_ns); });
    const RoleTimes& own = waits.own_ns[i];
    const bool meets = waits.kind != MeetingKind::none;
    table.add_row({rank.rank, steps,
                   meets ? Cell{static_cast<double>(last[i]) / static_cast<double>(steps)} : Cell{},
                   meets ? Cell{delay_of(waits, i)} : Cell{}, meets ? Cell{means[i]} : Cell{},
                   total_ns / steps, own[Role::kernel], own[Role::memcpy] + own[Role::memset],
                   own[Role::runtime], own[Role::dataloader], own[Role::cpu], own[Role::other]});
  }
  return table;
}

void note_meetings(const RankWaits& waits, Report& report) {
  if (waits.ranks.size() < 2)
    report.notes.emplace_back("one rank with steps only: nobody to compare it with");
  else if (waits.steps.empty())
    report.notes.emplace_back("the ranks have no step in common");
  else if (waits.kind == MeetingKind::none)
    report.notes.emplace_back(
        "no collectives and no event/backward: nothing tells where ranks wait for each other");
  else if (waits.kind == MeetingKind::barriers)
    report.notes.emplace_back(
        "no collectives recorded: ranks are taken to wait for each other in event/backward");
  else if (!waits.one_by_one)
    report.notes.emplace_back(
        "most of the communication cannot be matched between ranks: compared step by step");
}

void note_missing_ranks(const Run& run, Report& report) {
  for (const RunFile& file : run.files)
    if (const std::uint64_t missing = file.clock_problems.count(Problem::missing_rank); missing > 0)
      report.notes.push_back(fmt::format("no trace of rank{} {}: the others may wait for {}",
                                         missing == 1 ? "" : "s",
                                         file.clock_problems.explanation(Problem::missing_rank),
                                         missing == 1 ? "it" : "one of these"));
}

std::string headline_of(const Straggler& found) {
  if (found.changing_ns > 0)
    return fmt::format(
        "No rank stands out, but changing ones hold up the others, by {} a step: see who came last "
        "in how many steps.",
        format_duration(found.changing_ns));
  if (found.cause == StragglerCause::none) return "No rank holds up the others.";
  std::string text = fmt::format(
      "{} {} up the others by {} a step ({:.1f} %), last in {:.0f} % of the steps",
      rank_list(found.candidates), found.candidates.size() > 1 ? "hold" : "holds",
      format_duration(found.delay_ns), found.delay_share * 100, found.waited_for_share * 100);
  text[0] = 'R';
  return fmt::format("{}; cause: {} ({}; confidence: {}).", text, to_string(found.cause), found.why,
                     found.confidence);
}

}  // namespace

std::string_view to_string(StragglerCause cause) {
  static constexpr std::string_view kNames[] = {"none",   "dataloader", "compute", "clocks",
                                                "launch", "memcpy",     "idle",    "inconclusive"};
  return kNames[static_cast<std::size_t>(cause)];
}

Straggler find_straggler(const Run& run, const std::vector<RankRoles>& roles,
                         const RankWaits& waits) {
  Straggler found;
  if (waits.kind == MeetingKind::none || waits.mean_step_ns <= 0) return found;
  const std::vector<std::size_t> candidates = find_candidates(waits, found.delay_ns);
  found.delay_share = static_cast<double>(found.delay_ns) / static_cast<double>(waits.mean_step_ns);
  if (candidates.empty() || found.delay_share < kLeastDelayShare) {
    found.delay_ns = 0;
    found.delay_share = 0;
    const std::int64_t changing_ns = changing_delay(waits);
    if (waits.steps.size() < kLeastSteps ||
        static_cast<double>(changing_ns) <
            kLeastDelayShare * static_cast<double>(waits.mean_step_ns))
      return found;
    found.pattern = "changing";
    found.changing_ns = changing_ns;
    return found;
  }
  for (const std::size_t rank : candidates)
    found.candidates.push_back(run.ranks[waits.ranks[rank]].rank);
  found.waited_for_share = share_of_last(waits, candidates);
  found.cause = StragglerCause::inconclusive;
  const bool persistent =
      found.waited_for_share >= kLeastShare && waits.steps.size() >= kLeastSteps;
  found.pattern = persistent ? "persistent" : "sporadic";
  if (candidates.size() > 1) {
    found.why = "the events recorded cannot tell these ranks apart";
  } else if (!persistent) {
    found.why =
        waits.steps.size() < kLeastSteps ? "one step is too little to tell" : "in some steps only";
  } else {
    found.rank = found.candidates.front();
    found.confidence = waits.steps.size() >= kManySteps ? "high" : "medium";
    explain(run, roles, waits, candidates.front(), found);
    if (found.cause == StragglerCause::inconclusive && waits.steps.size() < kFewSteps) {
      found.rank.reset();
      found.confidence = "low";
    }
  }
  return found;
}

Report stragglers_report(const Run& run) {
  const std::vector<RankRoles> roles = find_all_roles(run);
  const RankWaits waits = find_waits(run, roles);
  const Straggler found = find_straggler(run, roles, waits);
  Report report("stragglers", run);
  std::string verdict;
  write_verdict(found, verdict);
  report.values.emplace_back("verdict", verdict);
  if (waits.kind != MeetingKind::none) report.headline.push_back(headline_of(found));
  report.tables.push_back({"rows", "", rows_table(waits, roles)});
  note_meetings(waits, report);
  note_missing_ranks(run, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
