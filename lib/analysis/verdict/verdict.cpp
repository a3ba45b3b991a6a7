#include "analysis/verdict/verdict.h"

#include "analysis/verdict/verdict_words.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

using Weights = ByLimit<double>;

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
  if (const IdleCause cause = row_of(limit).cause; cause != IdleCause::count_)
    return basis.share(found.causes[cause].ns);
  switch (limit) {
    case Limit::data_loading:
      return basis.part({Role::dataloader});
    case Limit::communication:
      return basis.part({Role::communication});
    case Limit::memory:
      return basis.part({Role::memcpy, Role::memset});
    case Limit::compute:
      return found.devices ? basis.part({Role::kernel}) : basis.part({Role::runtime, Role::cpu});
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
  if (found.roles.size() < 2) return "one rank only, which is compared with nobody";
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
  for (const Limit limit : kIdleLimits) {
    LimitShare& share = verdict.shares[limit];
    if (!found.devices) {
      share.forget(kNoDevices);
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
  verdict.not_recorded = found.basis.share(found.causes[IdleCause::not_recorded].ns);
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

// Returns the shares that count for the verdict, if `communication_ns` of the barriers is
// communication.
Weights weigh_limits(const Verdict& verdict, const Findings& found, std::int64_t communication_ns) {
  ByLimit<StepShare> parts;
  for (const Limit limit : kAllOf<Limit>) parts[limit] = verdict.shares[limit];
  parts[verdict.waiting_in].ns -= verdict.waiting.ns;
  parts[Limit::communication].ns += communication_ns;
  parts[verdict.waiting_in].ns -= communication_ns;
  parts[Limit::queued].ns -= std::min(found.causes.queued_before_ns, parts[Limit::queued].ns);
  Weights weights;
  for (const Limit limit : kAllOf<Limit>) weights[limit] = parts[limit].share();
  weights[Limit::data_loading] =
      std::max(weights[Limit::data_loading], verdict.delays[Limit::data_loading].share());
  // If the last rank changes, the delay may be noise; the evidence reports it.
  if (found.straggler.pattern != DelayPattern::changing)
    weights[Limit::straggler] = verdict.delays[Limit::straggler].share();
  return weights;
}

// True for a limit of the whole job that a straggler with that cause produces.
bool comes_of(Limit limit, StragglerCause cause) {
  switch (cause) {
    case StragglerCause::idle:
      return limit == Limit::idle || limit == Limit::queued;
    case StragglerCause::launch:
      return limit == Limit::launch_bound || limit == Limit::host_code || limit == Limit::blocked;
    case StragglerCause::memcpy:
      return limit == Limit::memory;
    default:
      return false;
  }
}

Limit find_largest(const Weights& weights) {
  static constexpr Limit kAvoidable[] = {
      Limit::data_loading, Limit::communication, Limit::straggler, Limit::memory, Limit::idle,
      Limit::launch_bound, Limit::host_code,     Limit::blocked,   Limit::queued};
  Limit largest = Limit::inconclusive;
  for (const Limit limit : kAvoidable)
    if (weights[limit] > limit_threshold(limit) && weights[limit] > weights[largest])
      largest = limit;
  if (largest == Limit::inconclusive && weights[Limit::compute] >= limit_threshold(Limit::compute))
    return Limit::compute;
  return largest;
}

Limit choose(const Weights& weights, const Straggler& straggler) {
  const Limit largest = find_largest(weights);
  if (!straggler.holds_up_by_much()) return largest;
  // Most of that share belongs to the straggler: the cause slows one rank, not the job.
  if (comes_of(largest, straggler.cause) && weights[Limit::straggler] > weights[largest] / 2)
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
  if (found.roles.size() == 1 && verdict.kind != Limit::inconclusive)
    verdict.rank = found.roles.front().rank;
}

// Returns every limit that the verdict may be. It tries none and all of the communication in
// barriers, of the messages whose other ends are not known, and of the time without a recorded
// reason.
std::vector<Limit> possible_limits(const Verdict& verdict, const Findings& found) {
  std::vector<Limit> possible;
  const auto judge = [&](const Weights& weights) {
    const Limit limit = choose(weights, found.straggler);
    if (std::ranges::find(possible, limit) == possible.end()) possible.push_back(limit);
  };
  const LimitShare& host = verdict.shares[verdict.waiting_in];
  const bool barriers = verdict.waiting_in != Limit::communication;
  const Weights least = weigh_limits(verdict, found, 0);
  judge(least);
  judge(weigh_limits(verdict, found, barriers ? host.ns - host.least_ns : 0));
  if (verdict.untold.ns > 0) {
    Weights without = least;
    without[Limit::communication] -= verdict.untold.share();
    judge(without);
  }
  if (verdict.not_recorded.share() >= kMuchNotRecorded)
    for (const Limit limit : kIdleLimits) {
      Weights with = least;
      with[limit] += verdict.not_recorded.share();
      judge(with);
    }
  return possible;
}

void find_kind(Verdict& verdict, const Findings& found) {
  const std::vector<Limit> possible = possible_limits(verdict, found);
  const Limit least = possible.front();
  const Straggler& straggler = found.straggler;
  if (possible.size() > 1) {
    for (const Limit limit : possible)
      if (limit != Limit::inconclusive) verdict.possible.push_back(limit);
    verdict.why = either_text(verdict.possible);
  } else if (least == Limit::straggler && !straggler.rank && !straggler.each_of_them) {
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
  for (const Limit limit : kIdleLimits)
    if (found.causes[row_of(limit).cause].inferred_ns > 0) verdict.status[limit] = Status::inferred;
  Status& communication = verdict.status[Limit::communication];
  const bool may_wait = found.lacks_ranks() || verdict.untold.ns > 0;
  if (may_wait && verdict.shares[Limit::communication].ns > 0) communication = Status::inferred;
  if (verdict.delays[Limit::straggler].ns > 0) verdict.status[Limit::straggler] = Status::inferred;
  verdict.status[Limit::inconclusive] = Status::cannot_tell;
}

}  // namespace

std::string_view to_string(Status status) {
  static constexpr std::string_view kNames[] = {"measured", "inferred", "cannot tell"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view to_string(WaitsBy by) {
  static constexpr std::string_view kNames[] = {"nothing", "messages", "collectives", "steps",
                                                "barriers"};
  return kNames[static_cast<std::size_t>(by)];
}

Verdict find_verdict(const Findings& found) {
  Verdict verdict;
  find_shares(verdict, found);
  find_kind(verdict, found);
  doubt_kind(verdict, found);
  take_out_programs(verdict, found);
  name_rank(verdict, found);
  find_statuses(verdict, found);
  verdict.evidence = evidence_of(verdict, found);
  verdict.advice = advice_of(verdict, found);
  return verdict;
}

namespace {

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
bool may_be(const StepBasis& basis, Role role, Limit limit) {
  return basis.part({role}).share() >= limit_threshold(limit);
}

// The numbers of events of a rank.
struct EventCounts {
  std::size_t loader = 0;
  std::size_t kernels = 0;
  std::size_t communication = 0;
  std::size_t copies = 0;
};

EventCounts count_events(const Run& run, const RankEvents& rank) {
  EventCounts counts;
  rank.for_each_mark(
      [&](const MarkedSpan& span) { counts.loader += span.mark == SpanMark::loader ? 1 : 0; });
  rank.for_each_device([&](const DeviceSpan& span) {
    const Role role = run.labels.kind(span.label).role;
    ++(role == Role::kernel          ? counts.kernels
       : role == Role::communication ? counts.communication
                                     : counts.copies);
  });
  return counts;
}

// Counts the events of which each share is the time; steps, if it is not the time of events.
ByLimit<std::size_t> count_events(const Run& run, const Findings& found) {
  ByLimit<std::size_t> events;
  for (const Limit limit : kAllOf<Limit>) events[limit] = found.basis.steps.count();
  events[Limit::straggler] = found.waits.steps.size();
  events[Limit::data_loading] = 0;
  if (found.devices)
    for (const Limit limit : {Limit::communication, Limit::memory, Limit::compute})
      events[limit] = 0;
  const auto count = [&](std::size_t rank) { return count_events(run, run.ranks[rank]); };
  for (const EventCounts& counts : per_rank<EventCounts>(run, found.basis.ranks, count)) {
    events[Limit::data_loading] += counts.loader;
    if (!found.devices) continue;
    events[Limit::compute] += counts.kernels;
    events[Limit::communication] += counts.communication;
    events[Limit::memory] += counts.copies;
  }
  if (!found.devices) return events;
  for (const Limit limit : kIdleLimits) events[limit] = found.causes[row_of(limit).cause].parts;
  return events;
}

}  // namespace

Findings::Findings(const Run& run)
    : roles(find_main_roles(run)),
      collectives(run),
      waits(find_waits(run, roles, collectives)),
      straggler(find_straggler(run, roles, waits)),
      loader(judge_loader(run, roles, waits, straggler)),
      basis(choose_basis(run, roles, straggler, loader)),
      lost_all(basis.steps.count() == 0 &&
               std::any_of(run.ranks.begin(), run.ranks.end(),
                           [](const RankEvents& rank) { return rank.steps.lost > 0; })),
      devices(has_devices(run)),
      has_frames(std::ranges::any_of(run.ranks, &RankEvents::has_frames)),
      trains(may_be(basis, Role::communication, Limit::communication) && is_training(run)),
      world_size(std::max(run.ranks.size(), find_stated_ranks(run))),
      is_alone(is_one_of_some(run, basis)),
      causes(devices ? find_idle_causes(run, roles, basis.ranks) : IdleCauses()),
      stages(devices || lacks_ranks()
                 ? find_stage_waits(run, collectives, roles, basis.ranks, lacks_ranks())
                 : StageWaits()),
      facts(devices
                ? find_device_facts(run, basis.ranks, may_be(basis, Role::kernel, Limit::compute))
                : DeviceFacts()),
      events(count_events(run, *this)),
      doubts(run),
      programs_ns(find_programs_ns(run, basis)) {}

namespace {

double bound_share(std::int64_t ns, const StepShare& share) {
  return StepShare{ns, share.of_ns, share.of}.share();
}

std::string not_measured(Limit limit, const LimitShare& share) {
  return fmt::format("{} cannot be measured: {}", limit_name(limit), share.unknown_since);
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
  const std::string cost = fmt::format("{} {}", limit_name(limit), cost_text(verdict, limit));
  const bool exceeds =
      std::max(bound_share(share.least_ns, share), verdict.delays[limit].share()) > most;
  if (exceeds) return {GateAnswer::fails, cost};
  if (limit == Limit::straggler && verdict.measured_delay.share() > most)
    return exceeds_in_all(verdict);
  if (share.unknown_since.empty() || (share.of_ns > 0 && bound_share(share.most_ns, share) <= most))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share)};
}

GateResult judge_verdict(Limit limit, const Verdict& verdict) {
  if (verdict.kind == limit) {
    const std::string cost =
        limit == Limit::inconclusive ? "" : fmt::format(": it {}", cost_text(verdict, limit));
    return {GateAnswer::fails, fmt::format("{} is the verdict{}", limit_name(limit), cost)};
  }
  const bool may_be = std::ranges::find(verdict.possible, limit) != verdict.possible.end();
  if (may_be)
    return {GateAnswer::unknown, fmt::format("{} may be the verdict, which is inconclusive: {}",
                                             limit_name(limit), verdict.why)};
  // The verdict considered the most that these two may take. Time without any event is not part of
  // it.
  const LimitShare& share = verdict.shares[limit];
  const bool is_weighed =
      ((verdict.waiting_in != Limit::communication || verdict.untold.ns > 0) &&
       (limit == Limit::communication || limit == verdict.waiting_in)) ||
      (verdict.not_recorded.ns > 0 && std::ranges::find(kIdleLimits, limit) != kIdleLimits.end());
  if (share.unknown_since.empty() || (share.of_ns > 0 && is_weighed))
    return {GateAnswer::passes, ""};
  return {GateAnswer::unknown, not_measured(limit, share)};
}

}  // namespace

GateResult judge(const LimitGate& gate, const Verdict& verdict) {
  return gate.share ? judge_share(gate.limit, *gate.share, verdict)
                    : judge_verdict(gate.limit, verdict);
}

}  // namespace traceloom
