#include "analysis/verdict.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

// From what share on each is worth a verdict.
double threshold(Limit limit) {
  switch (limit) {
    case Limit::data_loading:
      return 0.05;
    case Limit::communication:
    case Limit::straggler:
    case Limit::memory:
      return 0.10;
    case Limit::idle:
      return 0.15;
    case Limit::launch_bound:
      return 0.30;
    case Limit::compute:
    case Limit::inconclusive:
    case Limit::count_:
      break;
  }
  return 0.50;
}

double& of(Verdict& verdict, Limit limit) {
  return verdict.shares[static_cast<std::size_t>(limit)];
}

// What the ranks that the others wait for waited themselves, as where one is late for the first
// collective of a step and another for the second.
std::int64_t critical_waits(const RankWaits& waits) {
  std::int64_t sum = 0;
  if (waits.kind == MeetingKind::collectives)
    for (std::size_t step = 0; step < waits.steps.size(); ++step)
      add_to(sum, waits.wait_ns[waits.critical[step]][step]);
  return sum;
}

void set_shares(Verdict& verdict, const Findings& found) {
  const StepSum steps = critical_steps(found);
  RoleTimes times = steps.sum().exclusive;
  times[Role::communication] =
      std::max<std::int64_t>(times[Role::communication] - critical_waits(found.waits), 0);
  const RoleShares shares(times, steps.sum().total_ns);
  of(verdict, Limit::data_loading) = found.loader.share;
  of(verdict, Limit::communication) = shares[Role::communication];
  of(verdict, Limit::memory) = shares[Role::memcpy] + shares[Role::memset];
  of(verdict, Limit::straggler) =
      std::max(found.straggler.delay_share, found.straggler.changing_share);
  if (found.devices) {
    of(verdict, Limit::launch_bound) = shares[Role::runtime] + shares[Role::cpu];
    of(verdict, Limit::idle) = shares[Role::other];
    of(verdict, Limit::compute) = shares[Role::kernel];
  } else {
    of(verdict, Limit::compute) = shares[Role::runtime] + shares[Role::cpu];
  }
}

// What a straggler with that cause makes the whole job look like.
std::optional<Limit> limit_of(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::idle:
      return Limit::idle;
    case StragglerCause::launch:
      return Limit::launch_bound;
    case StragglerCause::memcpy:
      return Limit::memory;
    default:
      return std::nullopt;
  }
}

void choose_largest(Verdict& verdict, const Findings& found) {
  static constexpr Limit kAvoidable[] = {Limit::data_loading, Limit::communication,
                                         Limit::straggler,    Limit::memory,
                                         Limit::idle,         Limit::launch_bound};
  for (const Limit limit : kAvoidable) {
    // Where ranks change it is noise as well as anything; evidence tells it.
    if (limit == Limit::straggler && found.straggler.pattern == DelayPattern::changing) continue;
    if (of(verdict, limit) > threshold(limit) && of(verdict, limit) > verdict.share) {
      verdict.kind = limit;
      verdict.share = of(verdict, limit);
    }
  }
  if (verdict.kind == Limit::inconclusive &&
      of(verdict, Limit::compute) >= threshold(Limit::compute)) {
    verdict.kind = Limit::compute;
    verdict.share = of(verdict, Limit::compute);
  }
}

void name_straggler(Verdict& verdict, const Findings& found) {
  const Straggler& straggler = found.straggler;
  // Most of that share is the straggler's alone: the job is not slow for that reason, one rank is.
  if (limit_of(straggler.cause) == verdict.kind && straggler.delay_share > verdict.share / 2) {
    verdict.kind = Limit::straggler;
    verdict.share = straggler.delay_share;
  }
  const bool by_loader = straggler.cause == StragglerCause::dataloader;
  if (verdict.kind == Limit::straggler && by_loader) {
    verdict.kind = Limit::data_loading;
    verdict.share = std::max(verdict.share, of(verdict, Limit::data_loading));
    of(verdict, Limit::data_loading) = verdict.share;
  }
  if (verdict.kind == Limit::straggler || (verdict.kind == Limit::data_loading && by_loader))
    verdict.rank = straggler.rank;
}

void choose(Verdict& verdict, const Findings& found) {
  choose_largest(verdict, found);
  if (found.straggler.rank)
    name_straggler(verdict, found);
  else if (verdict.kind == Limit::straggler && !found.straggler.each_of_them)
    verdict.kind = Limit::inconclusive;
  if (found.roles.size() == 1 && verdict.kind != Limit::inconclusive)
    verdict.rank = found.roles.front().rank;
}

void add_evidence(Verdict& verdict, const Findings& found, std::size_t steps) {
  std::vector<std::string>& evidence = verdict.evidence;
  if (steps == 0) {
    evidence.emplace_back("no steps: nothing to take a share of");
    return;
  }
  const std::string where = found.waits.kind == MeetingKind::none
                                ? "of a mean step"
                                : "of a step, on the rank that the others wait for";
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    const Limit limit = static_cast<Limit>(i);
    if (limit == Limit::straggler || of(verdict, limit) < 0.005) continue;
    evidence.push_back(
        fmt::format("{} {:.1f} % {}", limit_name(limit), of(verdict, limit) * 100, where));
  }
  if (!found.loader.instrumented)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  const Straggler& straggler = found.straggler;
  if (straggler.changing_ns > 0)
    evidence.push_back(fmt::format("changing ranks: the others wait {} a step for one or another",
                                   format_duration(straggler.changing_ns)));
  if (!straggler.candidates.empty())
    evidence.push_back(fmt::format("{}: the others wait {} a step ({:.1f} %); cause: {} ({})",
                                   rank_list(straggler), format_duration(straggler.delay_ns),
                                   straggler.delay_share * 100, to_string(straggler.cause),
                                   straggler.why));
}

void add_advice(Verdict& verdict, const Findings& found) {
  std::vector<std::string>& advice = verdict.advice;
  switch (verdict.kind) {
    case Limit::data_loading:
      advice.emplace_back(
          "more workers (num_workers), prefetch_factor, pinned memory, cheaper or cached "
          "preprocessing; see trace-stats dataloader");
      break;
    case Limit::communication:
      advice.emplace_back(
          "larger batches or gradient accumulation, larger buckets, lower precision of gradients, "
          "overlap with the backward pass; see trace-stats gpu, stragglers");
      break;
    case Limit::straggler:
      advice.push_back(fmt::format("look at {} first (cause: {}); see trace-stats stragglers",
                                   rank_list(found.straggler), to_string(found.straggler.cause)));
      break;
    case Limit::memory:
      advice.emplace_back(
          "fewer and larger copies, pinned memory with non_blocking, data that stays on the "
          "device");
      break;
    case Limit::launch_bound:
      advice.emplace_back(
          "CUDA graphs, torch.compile, larger batches, fewer synchronisations: the device waits "
          "for "
          "its host");
      break;
    case Limit::idle:
      advice.emplace_back(
          "record more (with_stack, the loader, I/O): device and host do nothing that was "
          "recorded");
      break;
    case Limit::compute:
      advice.emplace_back(found.devices
                              ? "faster kernels: lower precision, tensor cores, fused operators"
                              : "faster operators on the host; see trace-stats summarize");
      break;
    case Limit::inconclusive:
    case Limit::count_:
      advice.emplace_back(found.straggler.candidates.size() > 1
                              ? "record collectives (torch.profiler) to tell these ranks apart"
                              : "record more steps, and both host and device activity");
      break;
  }
}

}  // namespace

Findings::Findings(const Run& run)
    : roles(find_all_roles(run)),
      waits(find_waits(run, roles)),
      straggler(find_straggler(run, roles, waits)),
      loader(judge_loader(run, roles, waits)),
      devices(std::any_of(run.ranks.begin(), run.ranks.end(),
                          [](const RankEvents& rank) { return rank.has_devices(); })) {}

StepSum all_steps(const std::vector<RankRoles>& roles) {
  StepSum steps;
  for (const RankRoles& rank : roles) steps.add_counted(rank.steps);
  return steps;
}

StepSum critical_steps(const Findings& found) {
  const RankWaits& waits = found.waits;
  if (waits.kind == MeetingKind::none) return all_steps(found.roles);
  StepSum steps;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for_each_shared(found.roles[waits.ranks[rank]].steps, waits.step_index[rank],
                    [&](std::size_t step, const StepRoles& roles) {
                      if (waits.critical[step] == rank) steps.add(roles);
                    });
  return steps;
}

Verdict find_verdict(const Findings& found) {
  Verdict verdict;
  set_shares(verdict, found);
  choose(verdict, found);
  add_evidence(verdict, found, all_steps(found.roles).count());
  add_advice(verdict, found);
  return verdict;
}

}  // namespace traceloom
