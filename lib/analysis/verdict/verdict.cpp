#include "analysis/verdict/verdict.h"

#include "analysis/mesh/bubbles.h"
#include "analysis/verdict/verdict_words.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace traceloom {
namespace {

using Gains = ByLimit<StepShare>;

constexpr double kMoreThanMean = 1.25;  // late data of changing ranks, compared with the mean of
                                        // all ranks
constexpr double kMuchNotRecorded = 0.05;
constexpr std::string_view kNotRecorded = "why the device does nothing was not recorded";
constexpr std::string_view kOtherEnds = "the other ends of messages are not known";
constexpr std::string_view kNoSteps = "there are no steps to take a share of";
constexpr std::string_view kNoDevices = "no device activity in these traces";
constexpr std::string_view kInBackward =
    "event/backward holds computing and communication, and no collectives were recorded";

// Returns the time of the roles that belong to a limit.
StepShare limit_part(const Findings& found, Limit limit) {
  const StepBasis& basis = found.basis;
  const Account& account = found.account;
  // Without devices the operators of the host are what computes.
  if (!found.devices && limit == Limit::host_operator) return basis.share(0);
  if (const AccountRow row = row_of(limit).row; row != AccountRow::count_)
    return basis.share(account[row].ns);
  switch (limit) {
    case Limit::data_loading:
      return basis.part({Role::dataloader});
    case Limit::communication:
      return basis.part({Role::communication});
    case Limit::memory:
      return basis.part({Role::memcpy, Role::memset});
    case Limit::compute:
      return basis.share(
          account[found.devices ? AccountRow::kernel : AccountRow::host_operator].ns);
    default:
      return basis.share(0);
  }
}

// Returns the time that the ranks of the basis waited for others, as far as the role has it.
std::int64_t waiting_ns(const Findings& found, Role role) {
  const RankWaits& waits = found.waits;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < waits.ranks.size() && waits.kind != MeetingKind::none; ++i) {
    const std::vector<std::size_t>& ranks = found.basis.ranks;
    if (std::find(ranks.begin(), ranks.end(), waits.ranks[i]) == ranks.end()) continue;
    for_each_shared(found.roles[waits.ranks[i]].steps, waits.step_index[i],
                    [&](std::size_t step, const StepRoles& roles) {
                      add_to(sum, std::min(waits.wait_ns[i][step], roles.exclusive[role]));
                    });
  }
  return sum;
}

// Returns what is computing or communication in barriers, of all ranks of the basis.
std::int64_t barrier_ns(const Findings& found) {
  std::int64_t sum = 0;
  for (const std::size_t rank : found.waits.ranks) {
    const std::vector<std::size_t>& ranks = found.basis.ranks;
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end())
      for (const std::int64_t ns : found.waits.barrier_ns) add_to(sum, ns);
  }
  return sum;
}

WaitsBy find_comparison(const Findings& found) {
  if (found.stages.tells_waits()) return WaitsBy::messages;
  if (found.waits.kind == MeetingKind::none) return WaitsBy::nothing;
  if (found.waits.kind == MeetingKind::barriers) return WaitsBy::barriers;
  return found.waits.one_by_one ? WaitsBy::collectives : WaitsBy::steps;
}

void find_waiting(Verdict& verdict, const Findings& found) {
  verdict.waits_by = find_comparison(found);
  verdict.waits_for_stages = found.stages.is_pipeline;
  verdict.untold =
      found.basis.share(std::min(found.stages.unknown_ns, verdict.shares[Limit::communication].ns));
  if (found.stages.tells_waits()) {
    verdict.waiting = found.basis.share(std::min(
        found.stages.wait_ns, verdict.shares[Limit::communication].ns - verdict.untold.ns));
    return;
  }
  const bool barriers = found.waits.kind == MeetingKind::barriers;
  if (barriers) verdict.waiting_in = found.devices ? Limit::launch_bound : Limit::compute;
  const std::int64_t most_ns =
      verdict.shares[verdict.waiting_in].ns - (barriers ? 0 : verdict.untold.ns);
  verdict.waiting = found.basis.share(
      std::min(waiting_ns(found, barriers ? Role::cpu : Role::communication), most_ns));
}

std::string_view why_nobody_is_late(const Findings& found) {
  const RankWaits& waits = found.waits;
  const Straggler& straggler = found.straggler;
  if (found.roles.size() < 2) return "one rank only, which is compared with nobody";
  if (straggler.candidates.empty() && straggler.cause == StragglerCause::inconclusive &&
      !straggler.why.empty())
    return straggler.why;
  if (straggler.candidates.empty() && found.lacks_ranks())
    return "ranks of the job are not in these traces";
  if (waits.steps.empty()) return "the ranks have no step in common";
  if (waits.kind == MeetingKind::none)
    return "the traces do not show where ranks wait for each other";
  return waits.steps.size() < 2 ? "one step is not enough to compare ranks" : "";
}

void find_bounds(Verdict& verdict, const Findings& found) {
  if (!found.loader.instrumented)
    verdict.shares[Limit::data_loading].forget("the data loader is not instrumented");
  if (const std::string_view why = why_nobody_is_late(found); !why.empty())
    verdict.shares[Limit::straggler].forget(why);
  // Without collectives it is not known how ranks work together.
  if (found.roles.size() > 1 && found.waits.kind == MeetingKind::none &&
      verdict.shares[Limit::communication].ns == 0)
    verdict.shares[Limit::communication].forget("no collectives were recorded");
  if (!found.devices) verdict.shares[Limit::memory].forget(kNoDevices);
  for (const Limit limit : kGapLimits) {
    LimitShare& share = verdict.shares[limit];
    if (!found.devices) {
      if (limit != Limit::host_call && limit != Limit::host_code) share.forget(kNoDevices);
    } else if (verdict.not_recorded.share() >= kMuchNotRecorded) {
      share.most_ns = saturating_add(share.ns, verdict.not_recorded.ns);
      share.unknown_since = kNotRecorded;
    }
  }
  LimitShare& host = verdict.shares[verdict.waiting_in];
  LimitShare& communication = verdict.shares[Limit::communication];
  const std::int64_t mixed_ns = std::min(barrier_ns(found), host.ns - verdict.waiting.ns);
  if (mixed_ns > 0 && !found.stages.tells_waits()) {
    host.least_ns = host.ns - mixed_ns;
    communication.most_ns = communication.ns + mixed_ns;
    host.unknown_since = communication.unknown_since = kInBackward;
  }
  // Missing ranks widen no bound here: they decide the kind alone, and the share includes waiting.
  if (verdict.untold.ns > 0 && !found.lacks_ranks()) {
    communication.least_ns = communication.ns - verdict.untold.ns;
    communication.unknown_since = kOtherEnds;
  }
  if (found.basis.steps.count() == 0)
    for (const Limit limit : kAllOf<Limit>) verdict.shares[limit].forget(kNoSteps);
}

void find_shares(Verdict& verdict, const Findings& found) {
  verdict.of = found.basis.owner;
  for (const Limit limit : kAllOf<Limit>) {
    const StepShare part = limit_part(found, limit);
    verdict.shares[limit] = {part, part.ns, part.ns, {}};
  }
  verdict.not_recorded = found.basis.share(found.account[AccountRow::not_recorded].ns);
  find_waiting(verdict, found);
  find_bounds(verdict, found);
  doubt_shares(verdict, found);
  const Straggler& straggler = found.straggler;
  verdict.delays[Limit::straggler] =
      found.basis.share_of_mean(std::max(straggler.delay_ns, straggler.changing_ns));
  verdict.measured_delay = found.basis.share_of_mean(straggler.measured_ns);
  // Otherwise it is the same wait, that of the rank that has its data last in every step. The later
  // stages of a pipeline need no data before the first ones are done: a late rank is a straggler.
  const StepShare late = found.basis.share_of_mean(found.loader.late_ns);
  if (found.waits.kind != MeetingKind::none && !found.stages.is_pipeline &&
      late.share() > kMoreThanMean * verdict.shares[Limit::data_loading].share())
    verdict.delays[Limit::data_loading] = late;
}

// Returns the time of the kernels, or of the operators of the host, whose name takes longest.
std::int64_t largest_part_ns(const Findings& found, std::int64_t compute_ns) {
  if (found.devices)
    return std::min(
        found.facts.longest_busy_ns,
        static_cast<std::int64_t>(static_cast<double>(compute_ns) *
                                  ratio(found.facts.longest_ns, found.facts.kernel_ns)));
  return std::min(found.account[AccountRow::host_operator].longest().ns, compute_ns);
}

// Takes the gains of the job by replay. Gaps of single devices gain no more than no time between
// launches would.
void take_job_gains(const Findings& found, Gains& gains) {
  const WhatIf& job = *found.job;
  const auto of_job = [&](std::int64_t ns) {
    const double part = ratio(std::max<std::int64_t>(ns, 0), job.step_ns);
    return found.basis.share(
        static_cast<std::int64_t>(part * static_cast<double>(found.basis.share(0).of_ns)));
  };
  const auto cap = [&](Limit limit, std::int64_t ns) {
    const StepShare most = of_job(ns);
    if (gains[limit].share() > most.share()) gains[limit] = most;
  };
  gains[Limit::data_loading] = of_job(job.gain_ns(Repair::Kind::loader));
  gains[Limit::communication] = of_job(job.gain_ns(Repair::Kind::communication));
  gains[Limit::straggler] = of_job(found.oddest ? found.oddest->gain_ns : 0);
  gains[Limit::compute] = of_job(job.longest_kernel_ns);
  for (const Limit limit : kGapLimits) cap(limit, job.gain_ns(Repair::Kind::launch));
}

// Returns what would be saved at most without each limit, if `communication_ns` of the barriers is
// communication.
Gains find_gains(const Verdict& verdict, const Findings& found, std::int64_t communication_ns) {
  Gains gains;
  const auto steps = static_cast<std::int64_t>(found.basis.steps.count());
  for (const Limit limit : kAllOf<Limit>) gains[limit] = verdict.shares[limit];
  gains[verdict.waiting_in].ns -= verdict.waiting.ns;
  gains[Limit::communication].ns += communication_ns;
  gains[verdict.waiting_in].ns -= communication_ns;
  const auto is_more = [&](const StepShare& delay, Limit limit) {
    return delay.share() > gains[limit].share();
  };
  const auto take = [&](Limit limit) {
    const Int128 ns = static_cast<Int128>(verdict.delays[limit].ns) * steps;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    gains[limit] = found.basis.share(ns > kMost ? kMost : static_cast<std::int64_t>(ns));
  };
  if (is_more(verdict.delays[Limit::data_loading], Limit::data_loading)) take(Limit::data_loading);
  // If the last rank changes, the delay may be noise; the evidence reports it.
  if (found.straggler.pattern != DelayPattern::changing) take(Limit::straggler);
  // The wait for a single batch without a step's mark is the start of the loader.
  if (found.is_lone_batch) gains[Limit::data_loading].ns = 0;
  // The time that a straggler computes longer than the others is its delay.
  StepShare& compute = gains[Limit::compute];
  const std::int64_t compute_ns = compute.ns;
  compute.ns = largest_part_ns(found, compute_ns);
  if (found.straggler.cause == StragglerCause::compute ||
      found.straggler.cause == StragglerCause::slower_device)
    compute.ns = std::max<std::int64_t>(compute.ns - gains[Limit::straggler].ns, 0);
  if (found.job != nullptr) take_job_gains(found, gains);
  return gains;
}

// True for a limit of the whole job that a straggler with that cause produces.
bool comes_of(Limit limit, StragglerCause cause) {
  switch (cause) {
    case StragglerCause::idle:
      return limit == Limit::idle || limit == Limit::queued || limit == Limit::turn_around;
    case StragglerCause::launch:
      return limit == Limit::launch_bound || limit == Limit::host_code || limit == Limit::blocked ||
             limit == Limit::host_operator || limit == Limit::host_call;
    case StragglerCause::memcpy:
      return limit == Limit::memory;
    default:
      return false;
  }
}

Limit find_largest(const Gains& gains) {
  const auto weight = [&](Limit limit) { return gains[limit].share() * gain_weight(limit); };
  Limit largest = Limit::inconclusive;
  for (const Limit limit : kAllOf<Limit>)
    if (limit != Limit::inconclusive && gains[limit].share() >= kWorthNaming &&
        (largest == Limit::inconclusive || weight(limit) > weight(largest)))
      largest = limit;
  return largest;
}

// The time that one rank, stage, link or group causes counts for it alone. Computing counts with
// what a mean rank spends on the kernel: without it all waiting behind it would be gone, too, but
// it only becomes faster.
Limit choose_for_job(Gains gains, const Findings& found) {
  StepShare& compute = gains[Limit::compute];
  compute.ns = std::min(compute.ns, largest_part_ns(found, found.account[AccountRow::kernel].ns));
  if (found.oddest)
    for (const Repair& repair : found.oddest->repairs) {
      const bool computes = repair.kind == Repair::Kind::stage || repair.kind == Repair::Kind::rank;
      StepShare& whole = gains[computes ? Limit::compute : Limit::communication];
      whole.ns = std::max<std::int64_t>(whole.ns - gains[Limit::straggler].ns, 0);
    }
  return find_largest(gains);
}

Limit choose(const Gains& gains, const Findings& found) {
  const Straggler& straggler = found.straggler;
  if (found.job != nullptr) return choose_for_job(gains, found);
  const Limit largest = find_largest(gains);
  if (!straggler.holds_up_by_much()) return largest;
  // Most of that share belongs to the straggler: the cause slows one rank, not the job.
  if (comes_of(largest, straggler.cause) &&
      gains[Limit::straggler].share() > gains[largest].share() / 2)
    return Limit::straggler;
  if (largest == Limit::straggler && straggler.cause == StragglerCause::dataloader)
    return Limit::data_loading;
  return largest;
}

void name_rank(Verdict& verdict, const Findings& found) {
  const Straggler& straggler = found.straggler;
  const bool by_loader = straggler.cause == StragglerCause::dataloader;
  if (verdict.kind == Limit::data_loading) verdict.rank = found.loader.rank;
  if (straggler.holds_up_by_much() &&
      (verdict.kind == Limit::straggler || (verdict.kind == Limit::data_loading && by_loader)))
    verdict.rank = straggler.rank;
  if (found.job != nullptr && verdict.kind == Limit::straggler) {
    const std::vector<Repair>& repairs = found.oddest->repairs;
    verdict.rank.reset();
    if (repairs.size() == 1 && repairs.front().kind == Repair::Kind::rank)
      verdict.rank = repairs.front().ranks.front();
    verdict.named = found.oddest->whom();
  }
  if (found.roles.size() == 1 && verdict.kind != Limit::inconclusive)
    verdict.rank = found.roles.front().rank;
}

using Limits = std::vector<Limit>;

void judge_gains(const Gains& gains, const Findings& found, Limits& possible) {
  const Limit limit = choose(gains, found);
  if (std::ranges::find(possible, limit) == possible.end()) possible.push_back(limit);
}

void judge_with(Limit limit, std::int64_t ns, const Verdict& verdict, const Findings& found,
                Limits& possible) {
  Gains gains = verdict.gains;
  add_to(gains[limit].ns, ns);
  judge_gains(gains, found, possible);
}

// Returns every limit that the verdict may be, with none and with all of the communication in
// barriers and of the messages whose other ends are not known.
Limits possible_limits(const Verdict& verdict, const Findings& found) {
  Limits possible;
  const LimitShare& host = verdict.shares[verdict.waiting_in];
  const bool barriers = verdict.waiting_in != Limit::communication;
  judge_gains(verdict.gains, found, possible);
  judge_gains(find_gains(verdict, found, barriers ? host.ns - host.least_ns : 0), found, possible);
  if (verdict.untold.ns > 0)
    judge_with(Limit::communication, -verdict.untold.ns, verdict, found, possible);
  return possible;
}

// Adds the limits that the verdict may be if the time without a recorded reason is of one of them.
void add_not_recorded(const Verdict& verdict, const Findings& found, Limits& possible) {
  static constexpr std::array kOfHost{Limit::compute, Limit::host_call, Limit::host_code};
  if (verdict.not_recorded.share() < kMuchNotRecorded) return;
  // What a straggler does longer than the others is its delay, recorded or not.
  std::int64_t ns = verdict.not_recorded.ns;
  if (found.straggler.cause == StragglerCause::idle)
    ns = std::max<std::int64_t>(ns - verdict.gains[Limit::straggler].ns, 0);
  const auto add = [&](Limit limit) { judge_with(limit, ns, verdict, found, possible); };
  if (found.devices)
    std::ranges::for_each(kGapLimits, add);
  else
    std::ranges::for_each(kOfHost, add);
}

// Returns why most of the steps is in no gain; empty if it is not.
std::string why_left_out(const Findings& found) {
  constexpr std::pair<AccountRow, std::string_view> kReasons[] = {
      {AccountRow::outside, "before the first or after the last work of the device"},
      {AccountRow::capture, "a capture of a graph"},
      {AccountRow::once, "in long operators and calls that are not known to recur"}};
  std::int64_t sum_ns = 0;
  for (const auto& [row, what] : kReasons) add_to(sum_ns, found.account[row].ns);
  if (found.is_lone_batch) add_to(sum_ns, found.account[AccountRow::dataloader].ns);
  constexpr double kMost = 0.5;
  if (found.basis.share(sum_ns).share() <= kMost) return {};
  const auto* const most = std::ranges::max_element(
      kReasons, {}, [&](const auto& reason) { return found.account[reason.first].ns; });
  if (found.is_lone_batch &&
      found.account[AccountRow::dataloader].ns > found.account[most->first].ns)
    return "most of the step is the wait for a single batch";
  const bool is_most = found.basis.share(found.account[most->first].ns).share() > kMost;
  return fmt::format("most of the step is {}{}", is_most ? "" : "in no gain, largely ",
                     most->second);
}

std::string why_not_recorded(const Verdict& verdict, const Findings& found) {
  return fmt::format("{} {}", percent_text(verdict.not_recorded),
                     found.devices ? "is without a recorded reason why no device works"
                                   : "is without any record of the host");
}

void find_kind(Verdict& verdict, const Findings& found) {
  verdict.gains = find_gains(verdict, found, 0);
  Limits possible = possible_limits(verdict, found);
  const bool is_open = possible.size() == 1;
  add_not_recorded(verdict, found, possible);
  const Limit least = possible.front();
  const Straggler& straggler = found.straggler;
  // What waits for data or for ranks is known of that time, too.
  const bool is_known = least == Limit::data_loading || least == Limit::straggler;
  if (std::string why = is_known ? "" : why_left_out(found); !why.empty()) {
    verdict.why = std::move(why);
    verdict.is_left_out = true;
    if (least != Limit::inconclusive) verdict.possible = {least};
  } else if (possible.size() > 1) {
    for (const Limit limit : possible)
      if (limit != Limit::inconclusive) verdict.possible.push_back(limit);
    verdict.why = is_open ? why_not_recorded(verdict, found) : either_text(verdict.possible);
  } else if (least == Limit::straggler && found.job == nullptr && !straggler.rank &&
             !straggler.each_of_them) {
    verdict.possible = {Limit::straggler, Limit::data_loading};
    verdict.why = candidates_text(straggler);
  } else {
    verdict.kind = least;
  }
}

// A share is inferred if the launches of its gaps are, and communication if it may be a wait for
// ranks that were not recorded. A straggler is always inferred, since it follows from the waits of
// others.
void find_statuses(Verdict& verdict, const Findings& found) {
  verdict.events = found.events;
  for (const Limit limit : kAllOf<Limit>) {
    const LimitShare& share = verdict.shares[limit];
    const bool is_told = share.unknown_since.empty() || share.ns > 0;
    verdict.status[limit] = is_told ? Status::measured : Status::cannot_tell;
  }
  for (const Limit limit : kGapLimits)
    if (found.account[row_of(limit).row].inferred_ns > 0) verdict.status[limit] = Status::inferred;
  Status& communication = verdict.status[Limit::communication];
  const bool may_wait = found.lacks_ranks() || verdict.untold.ns > 0;
  if (may_wait && verdict.shares[Limit::communication].ns > 0) communication = Status::inferred;
  if (verdict.delays[Limit::straggler].ns > 0) verdict.status[Limit::straggler] = Status::inferred;
  verdict.status[Limit::inconclusive] = Status::cannot_tell;
}

// The ranks of the job as far as the files say, 0 if none does.
std::size_t find_stated_ranks(const Run& run) {
  std::size_t ranks = 0;
  for (const RunFile& file : run.files)
    if (file.world_size > 0) ranks = std::max(ranks, static_cast<std::size_t>(file.world_size));
  return ranks;
}

bool is_one_of_some(const Run& run, const StepBasis& basis) {
  return run.ranks.size() == 1 && find_stated_ranks(run) == 0 &&
         basis.part({Role::communication}).ns > 0;
}

// True if the limit, whose time is that of the role, may be the verdict. Only then does advice look
// at kernels, or ask whether there are gradients.
bool may_be(const StepBasis& basis, Role role) {
  return basis.part({role}).share() >= kWorthNaming;
}

// Counts the events of which each share is the time; steps, if it is not the time of events.
ByLimit<std::size_t> count_events(const Findings& found) {
  const Account& account = found.account;
  ByLimit<std::size_t> events;
  for (const Limit limit : kAllOf<Limit>) events[limit] = found.basis.steps.count();
  events[Limit::straggler] = found.waits.steps.size();
  events[Limit::data_loading] = account[AccountRow::dataloader].n;
  events[Limit::communication] = account[AccountRow::communication].n;
  events[Limit::memory] = account[AccountRow::memcpy].n + account[AccountRow::memset].n;
  events[Limit::compute] =
      account[found.devices ? AccountRow::kernel : AccountRow::host_operator].n;
  for (const Limit limit : kGapLimits) events[limit] = account[row_of(limit).row].n;
  return events;
}

double bound_share(std::int64_t ns, const StepShare& share) {
  return StepShare{ns, share.of_ns, share.of}.share();
}

std::string not_measured(Limit limit, std::string_view why) {
  return fmt::format("{} cannot be measured: {}", limit_name(limit), why);
}

// The others wait for various ranks in turn, which is more than the wait for the straggler alone,
// if there is one.
GateResult exceeds_in_all(const Verdict& verdict) {
  const bool nobody = verdict.delays[Limit::straggler].ns == 0;
  return {
      GateAnswer::fails,
      fmt::format("straggler: the others wait {} for whichever rank comes last{}",
                  percent_text(verdict.measured_delay), nobody ? ", and no rank stands out" : "")};
}

GateResult judge_share(Limit limit, double most, const Verdict& verdict) {
  const LimitShare& share = verdict.shares[limit];
  if (std::max(bound_share(share.least_ns, share), verdict.delays[limit].share()) > most)
    return {GateAnswer::fails, fmt::format("{} {}", limit_name(limit), cost_text(verdict, limit))};
  if (limit == Limit::straggler && verdict.measured_delay.share() > most)
    return exceeds_in_all(verdict);
  if (share.unknown_since.empty() || (share.of_ns > 0 && bound_share(share.most_ns, share) <= most))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share.unknown_since)};
}

GateResult judge_verdict(Limit limit, const Verdict& verdict) {
  if (verdict.kind == limit) {
    const std::string cost =
        limit == Limit::inconclusive ? "" : fmt::format(": it {}", cost_text(verdict, limit));
    return {GateAnswer::fails, fmt::format("{} is the verdict{}", limit_name(limit), cost)};
  }
  if (std::ranges::find(verdict.possible, limit) != verdict.possible.end())
    return {GateAnswer::unknown, fmt::format("{} may be the verdict, which is inconclusive: {}",
                                             limit_name(limit), verdict.why)};
  // The verdict considered the most that these two may take. Time without any event is not part of
  // it.
  const LimitShare& share = verdict.shares[limit];
  const bool is_weighed =
      ((verdict.waiting_in != Limit::communication || verdict.untold.ns > 0) &&
       (limit == Limit::communication || limit == verdict.waiting_in)) ||
      (verdict.not_recorded.ns > 0 && std::ranges::find(kGapLimits, limit) != kGapLimits.end());
  if (share.unknown_since.empty() || (share.of_ns > 0 && is_weighed))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share.unknown_since)};
}

// The unknown part of the limit's time may be gained, too.
GateResult judge_gain(Limit limit, double most, const Verdict& verdict) {
  const StepShare& gain = verdict.gains[limit];
  const LimitShare& share = verdict.shares[limit];
  if (gain.share() > most)
    return {GateAnswer::fails, fmt::format("gain:{}: without it at most {} would be saved",
                                           limit_name(limit), percent_text(gain))};
  const double unknown = bound_share(saturating_subtract(share.most_ns, share.ns), share);
  if (share.unknown_since.empty() || gain.share() + unknown <= most)
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, "gain:" + not_measured(limit, share.unknown_since)};
}

// Returns nullptr for a single rank, without devices, and if the gains may not be those of the job.
const WhatIf* known_gains(const Run& run) {
  if (run.ranks.size() < 2 || !std::ranges::all_of(run.ranks, &RankEvents::has_devices))
    return nullptr;
  const WhatIf& job = find_job_gains(run);
  return job.doubt().empty() ? &job : nullptr;
}

}  // namespace

Verdict find_verdict(const Findings& found) {
  Verdict verdict;
  find_shares(verdict, found);
  find_kind(verdict, found);
  doubt_kind(verdict, found);
  take_out_programs(verdict, found);
  name_rank(verdict, found);
  find_statuses(verdict, found);
  const std::vector<std::int64_t>& late = found.straggler.candidates;
  verdict.named_rank = verdict.rank                        ? verdict.rank
                       : !late.empty() && late.size() <= 2 ? late.front()
                                                           : verdict.of.rank;
  verdict.evidence = evidence_of(verdict, found);
  verdict.left_out = left_out_of(found);
  verdict.remedies = remedies_of(verdict, found);
  verdict.next = next_of(verdict, found);
  return verdict;
}

Findings::Findings(const Run& run)
    : roles(find_main_roles(run)),
      waits(find_waits(run, roles)),
      straggler(find_straggler(run, roles, waits)),
      loader(judge_loader(run, roles, waits, straggler)),
      basis(choose_basis(run, roles, straggler, loader)),
      lost_all(basis.steps.count() == 0 &&
               std::any_of(run.ranks.begin(), run.ranks.end(),
                           [](const RankEvents& rank) { return rank.steps.lost > 0; })),
      devices(has_devices(run)),
      has_frames(std::ranges::any_of(run.ranks, &RankEvents::has_frames)),
      is_coarse(run.is_coarse()),
      trains((!loader.instrumented || may_be(basis, Role::communication)) && is_training(run)),
      world_size(std::max(run.ranks.size(), find_stated_ranks(run))),
      is_alone(is_one_of_some(run, basis)),
      account(find_account(run, roles, basis.ranks)),
      stages(devices || lacks_ranks() ? find_stage_waits(run, roles, basis.ranks, lacks_ranks())
                                      : StageWaits()),
      facts(devices ? find_device_facts(run, basis.ranks,
                                        may_be(basis, Role::kernel) || may_be(basis, Role::memcpy),
                                        [&](std::size_t rank) { return roles[rank].counted(); })
                    : DeviceFacts()),
      job(lacks_ranks() || basis.steps.count() == 0 ? nullptr : known_gains(run)),
      events(count_events(*this)),
      is_lone_batch(traceloom::is_lone_batch(run, basis)),
      doubts(run),
      programs_ns(find_programs_ns(run, basis)) {
  if (job == nullptr) return;
  const std::vector<Gain> odd = job->odd();
  if (!odd.empty()) oddest = odd.front();
  const Mesh& mesh = find_mesh(run);
  has_lone_stages = mesh.stages == static_cast<std::int64_t>(run.ranks.size());
  if (!stages.is_pipeline) return;
  least_waiting = 1;
  for (const RankParts& rank : find_bubbles(run, mesh, roles).ranks)
    least_waiting = std::min(least_waiting, rank.waiting_share().value_or(0));
}

GateResult judge(const LimitGate& gate, const Verdict& verdict) {
  GateResult result = gate.of_gain ? judge_gain(gate.limit, *gate.share, verdict)
                      : gate.share ? judge_share(gate.limit, *gate.share, verdict)
                                   : judge_verdict(gate.limit, verdict);
  const bool is_of_gaps = std::ranges::find(kGapLimits, gate.limit) != kGapLimits.end();
  if (result.answer == GateAnswer::passes && verdict.is_left_out && is_of_gaps)
    return {GateAnswer::unknown, not_measured(gate.limit, verdict.why)};
  return result;
}

}  // namespace traceloom
