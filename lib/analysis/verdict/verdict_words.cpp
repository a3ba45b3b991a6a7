#include "analysis/verdict/verdict_words.h"

#include "base/arithmetic.h"
#include "base/units.h"
#include "per_rank/per_rank.h"
#include "table/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr double kLeastTold = 0.005;  // share of the steps
constexpr double kMuchUnlinked = 0.05;

std::string percent_text(std::int64_t ns, const StepShare& of) {
  return fmt::format("{:.1f} %", StepShare{ns, of.of_ns, of.of}.share() * 100);
}

// Returns the parts of a share if they are of several kinds.
std::string parts_text(const Verdict& verdict, const Findings& found, Limit limit) {
  const LimitShare& share = verdict.shares[limit];
  const std::int64_t waiting_ns = limit == verdict.waiting_in ? verdict.waiting.ns : 0;
  const std::int64_t untold_ns = limit == Limit::communication ? verdict.untold.ns : 0;
  // These are no parts of single collectives, as in `comm`.
  const bool by_steps = verdict.waits_by == WaitsBy::steps;
  const std::int64_t mixed_ns = share.ns - share.least_ns - (found.lacks_ranks() ? 0 : untold_ns);
  std::vector<std::string> parts;
  if (limit == verdict.waiting_in && mixed_ns > 0) {
    parts.push_back(percent_text(share.ns - mixed_ns - waiting_ns, share) +
                    " outside event/backward");
    parts.push_back(percent_text(mixed_ns, share) +
                    " inside it, where the traces do not separate computing from communication");
  } else if ((verdict.waiting.share() >= kLeastTold && waiting_ns > 0) ||
             (untold_ns > 0 && untold_ns < share.ns)) {
    parts.push_back(percent_text(share.ns - waiting_ns - untold_ns, share) +
                    (by_steps ? " that every rank spends in a step" : " moving data"));
  }
  if (untold_ns > 0)
    parts.push_back(percent_text(untold_ns, share) +
                    (found.is_alone        ? " moving data or waiting"
                     : found.lacks_ranks() ? " moving data or waiting for ranks that are not here"
                                           : " in messages of which the other end is not known"));
  if (verdict.waiting.share() >= kLeastTold && waiting_ns > 0)
    parts.push_back(percent_text(waiting_ns, share) +
                    (verdict.waits_for_stages ? " waiting for other stages"
                     : by_steps               ? " beyond that, waiting for other ranks"
                                              : " waiting for other ranks"));
  return parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "));
}

// Adds what is known of the parts of shares.
void add_parts(const Verdict& verdict, const Findings& found, std::vector<std::string>& evidence) {
  for (const Limit limit : kAllOf<Limit>) {
    const LimitShare& share = verdict.shares[limit];
    const std::string parts = parts_text(verdict, found, limit);
    if (share.share() >= kLeastTold && !parts.empty())
      evidence.push_back(fmt::format("{} {}{}", limit_name(limit), percent_text(share), parts));
  }
  if (verdict.programs.share() >= kLeastTold)
    evidence.push_back(fmt::format("whole programs ({}) {}: {}", found.doubts.programs,
                                   percent_text(verdict.programs),
                                   verdict.shares[Limit::compute].unknown_since));
}

void add_delay_lines(const Verdict& verdict, const Findings& found,
                     std::vector<std::string>& evidence) {
  const StepShare& late = verdict.delays[Limit::data_loading];
  if (late.share() >= kWorthNaming)
    evidence.push_back(
        fmt::format("late data: the rank whose data comes last, one or another, "
                    "waits {} a step ({})",
                    format_duration(late.ns), percent_text(late)));
  const Straggler& straggler = found.straggler;
  if (found.oddest && verdict.gains[Limit::straggler].share() >= kWorthNaming)
    evidence.push_back(found.job->words(*found.oddest) +
                       ", by a replay of all ranks; see trace-stats what-if");
  // What a stage, a link or a group causes is nothing that single ranks do.
  if (found.oddest && straggler.candidates.empty()) return;
  if (straggler.changing_ns > 0)
    evidence.push_back(fmt::format("changing ranks: the others wait {} a step for one or another",
                                   format_duration(straggler.changing_ns)));
  else if (straggler.candidates.empty() && straggler.cause == StragglerCause::none &&
           straggler.measured_ns > 0 && verdict.waiting_in == Limit::communication &&
           verdict.waiting.share() >= kWorthNaming)
    evidence.push_back(fmt::format(
        "no rank alone holds up the others by more than {} a step; see trace-stats stragglers",
        format_duration(straggler.measured_ns)));
  if (straggler.is_gain && straggler.rank)
    evidence.push_back(fmt::format("{}: cause: {} ({})", rank_list(straggler),
                                   to_string(straggler.cause), straggler.why));
  if (!straggler.is_gain && !straggler.candidates.empty())
    evidence.push_back(fmt::format("{}: the others wait {} a step ({}); cause: {} ({})",
                                   rank_list(straggler), format_duration(straggler.delay_ns),
                                   percent_text(verdict.delays[Limit::straggler]),
                                   to_string(straggler.cause), straggler.why));
}

constexpr std::string_view kOfPrograms =
    "the traces do not show how much of a program is computing";

// The limits about which nothing is known if the device is not understood.
constexpr Limit kOfDevice[] = {Limit::memory,    Limit::launch_bound, Limit::host_operator,
                               Limit::host_call, Limit::host_code,    Limit::blocked,
                               Limit::queued,    Limit::turn_around,  Limit::profiler,
                               Limit::idle,      Limit::compute};

bool is_compute_known(const Verdict& verdict) {
  const LimitShare& compute = verdict.shares[Limit::compute];
  constexpr std::int64_t kHalf = 2;
  return compute.least_ns >= compute.of_ns / kHalf;
}

bool may_be(const Verdict& verdict, Limit limit) {
  return verdict.kind == limit ||
         std::ranges::find(verdict.possible, limit) != verdict.possible.end();
}

bool is_of_programs(const Verdict& verdict, const Findings& found) {
  return may_be(verdict, Limit::compute) && !found.doubts.programs.empty() &&
         !is_compute_known(verdict);
}

// What the host does of computing and communication is no more than launching it.
bool is_of_launches(const Verdict& verdict, const Findings& found) {
  return !found.doubts.not_recorded.empty() &&
         (may_be(verdict, Limit::compute) || may_be(verdict, Limit::communication) ||
          may_be(verdict, Limit::host_call));
}

}  // namespace

std::string percent_text(const StepShare& share) {
  return fmt::format("{:.1f} % of {}", share.share() * 100, share.of.text());
}

std::string step_text(std::int64_t ns, const StepOwner& of) {
  return format_duration(rounded_mean(ns, std::max<std::size_t>(of.steps, 1)));
}

std::string names_text(const std::vector<NamedTime>& names, const StepOwner& of, std::size_t most) {
  constexpr std::size_t kWidth = 40;
  std::vector<std::string> texts;
  for (const NamedTime& name : names) {
    if (texts.size() == most) break;
    texts.push_back(
        fmt::format("{} {}", shorten_middle(one_line(name.name), kWidth), step_text(name.ns, of)));
    if (!name.caller.empty())
      texts.back() += " in " + shorten_middle(one_line(name.caller), kWidth);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string most_text(const AccountSum& sum, const StepOwner& of) {
  const bool is_most = !sum.names.empty() && 2 * Int128{sum.names.front().ns} >= sum.ns;
  return is_most ? names_text(sum.names, of, 1) : "";
}

std::string either_text(const std::vector<Limit>& limits) {
  std::vector<std::string_view> names;
  names.reserve(limits.size());
  for (const Limit limit : limits) names.push_back(limit_name(limit));
  return limits.size() == 1 ? fmt::format("{} or none", names.front())
                            : fmt::format("{}", fmt::join(names, " or "));
}

std::string candidates_text(const Straggler& straggler) {
  return fmt::format("{} {} up the others", rank_list(straggler),
                     plural(straggler.candidates.size(), "holds", "hold"));
}

std::string cost_text(const Verdict& verdict, Limit limit) {
  const std::string cost = percent_text(verdict.cost(limit));
  if (!verdict.is_delay(limit)) return "takes " + cost;
  return limit == Limit::data_loading ? "comes late by " + cost : "makes the others wait " + cost;
}

std::string verdict_headline(const Verdict& verdict) {
  std::string line = fmt::format("Verdict: {}", limit_name(verdict.kind));
  if (verdict.kind == Limit::inconclusive)
    return verdict.why.empty() ? line : fmt::format("{} ({})", line, verdict.why);
  const StepShare& gain = verdict.gains[verdict.kind];
  line += fmt::format(" (at most {} of {}, {}", step_text(gain.ns, gain.of),
                      step_text(gain.of_ns, gain.of), percent_text(gain));
  line += ')';
  if (!verdict.named.empty())
    line += ", " + verdict.named;
  else if (verdict.rank && verdict.of.rank)
    line += fmt::format(", rank {}", *verdict.rank);
  return line;
}

std::vector<std::string> evidence_of(const Verdict& verdict, const Findings& found) {
  if (found.lost_all) return {"no step counts: the profiler lost device work that they launched"};
  if (found.basis.steps.count() == 0) return {"no steps: nothing to take a share of"};
  std::vector<std::string> evidence;
  add_parts(verdict, found, evidence);
  if (found.is_alone)
    evidence.emplace_back(
        "1 rank of a job of unknown size: its collectives may include waiting for others");
  else if (found.lacks_ranks())
    evidence.push_back(fmt::format("{} of {} ranks: {} collectives include waiting for the others",
                                   found.roles.size(), found.world_size,
                                   plural(found.roles.size(), "its", "their")));
  // Nothing that only serves has one.
  if (!found.loader.instrumented && found.trains)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  const Account& account = found.account;
  std::uint64_t pieces = 0;
  for (const AccountRow row :
       {AccountRow::kernel, AccountRow::communication, AccountRow::memcpy, AccountRow::memset})
    pieces += account[row].n;
  if (account.linked > 0 && ratio(account.unlinked, pieces) >= kMuchUnlinked)
    evidence.push_back(unlinked_text(account.unlinked, pieces, " in these steps"));
  add_delay_lines(verdict, found, evidence);
  return evidence;
}

std::vector<std::string> left_out_of(const Findings& found) {
  std::vector<std::string> lines;
  if (!found.doubts.not_understood.empty()) return lines;
  const Account& account = found.account;
  const StepOwner& of = found.basis.owner;
  const auto add = [&](std::int64_t ns, std::string_view what, AccountRow names) {
    const StepShare share = found.basis.share(ns);
    if (share.share() < kLeastTold) return;
    const std::string in = most_text(account[names], of);
    lines.push_back(
        fmt::format("{:.1f} % {}{}{}", share.share() * 100, what, in.empty() ? "" : ": ", in));
  };
  add(account[AccountRow::outside].ns, "before the first or after the last work of a device",
      AccountRow::outside);
  add(account[AccountRow::capture].ns, "in which a graph is captured", AccountRow::capture);
  add(account[AccountRow::once].ns,
      of.steps == 1
          ? "in operators and calls of 200 us or more, and one step does not show that they recur"
          : "in operators and calls that took 200 us or more in less than half of the steps",
      AccountRow::once);
  add(account[AccountRow::not_recorded].ns,
      found.devices ? "without a recorded reason why no device works"
                    : "in which nothing was recorded on the host",
      AccountRow::not_recorded);
  return lines;
}

std::int64_t find_programs_ns(const Run& run, const StepBasis& basis) {
  const auto find = [&](std::size_t rank) {
    const Intervals programs = find_programs(run, run.ranks[rank]);
    if (programs.empty()) return std::int64_t{0};
    Intervals steps;
    for (const Step& step : run.ranks[rank].steps.list)
      if (step.counted) steps.push_back(step.time);
    return total_ns(intersect(unite(std::move(steps)), programs));
  };
  std::int64_t sum = 0;
  for (const std::int64_t ns : per_rank<std::int64_t>(run, basis.ranks, find)) add_to(sum, ns);
  return sum;
}

void doubt_shares(Verdict& verdict, const Findings& found) {
  if (LimitShare& compute = verdict.shares[Limit::compute];
      !found.doubts.programs.empty() && found.devices) {
    compute.least_ns = std::max<std::int64_t>(compute.least_ns - found.programs_ns, 0);
    compute.unknown_since = kOfPrograms;
  }
  if (!found.doubts.not_recorded.empty())
    for (const Limit limit : {Limit::compute, Limit::communication})
      if (LimitShare& share = verdict.shares[limit]; share.unknown_since.empty())
        share.forget(found.doubts.not_recorded);
  if (found.doubts.not_understood.empty()) return;
  for (const Limit limit : kOfDevice) verdict.shares[limit] = {found.basis.share(0), 0, 0, {}};
  for (const Limit limit : kAllOf<Limit>)
    if (limit != Limit::straggler && limit != Limit::inconclusive)
      verdict.shares[limit].forget(found.doubts.not_understood);
  verdict.waiting = found.basis.share(0);
}

void take_out_programs(Verdict& verdict, const Findings& found) {
  LimitShare& compute = verdict.shares[Limit::compute];
  if (found.doubts.programs.empty() || compute.unknown_since != kOfPrograms) return;
  verdict.programs = found.basis.share(compute.ns - compute.least_ns);
  compute.ns = compute.least_ns;
  StepShare& gain = verdict.gains[Limit::compute];
  gain.ns = std::min(gain.ns, compute.ns);
}

void doubt_kind(Verdict& verdict, const Findings& found) {
  const DeviceDoubts& doubts = found.doubts;
  if (!doubts.not_understood.empty() || !doubts.cut.empty()) {
    verdict.kind = Limit::inconclusive;
    verdict.possible.clear();
    verdict.why = doubts.not_understood.empty() ? doubts.cut : doubts.not_understood;
  } else if (is_of_launches(verdict, found)) {
    verdict.kind = Limit::inconclusive;
    verdict.possible = {Limit::compute, Limit::communication};
    verdict.why = found.doubts.not_recorded;
  } else if (is_of_programs(verdict, found)) {
    if (verdict.kind == Limit::compute) verdict.possible = {Limit::compute};
    verdict.kind = Limit::inconclusive;
    verdict.why = fmt::format("whole programs ({}) run on the device, and {}",
                              found.doubts.programs, kOfPrograms);
  }
}

std::optional<std::string> record_for_doubts(const Verdict& verdict, const Findings& found) {
  if (!found.doubts.cut.empty() && found.doubts.not_understood.empty())
    return "record or copy the whole file; see trace-stats check";
  if (!found.doubts.not_understood.empty())
    return "record the device with torch.profiler, JAX or Ascend's profiler; see trace-stats info";
  if (is_of_launches(verdict, found))
    return "record the device, too (CUDA activities); see trace-stats launch";
  if (is_of_programs(verdict, found))
    return "record the kernels or ops within the programs of the device; see trace-stats kernels";
  return std::nullopt;
}

std::vector<std::string> advice_lines(const Verdict& verdict) {
  std::vector<std::string> lines{verdict.next};
  for (const Remedy& remedy : verdict.remedies)
    lines.push_back(fmt::format("{}: at most {} ({}, {})", remedy.text,
                                step_text(remedy.gain.ns, verdict.of), percent_text(remedy.gain),
                                to_string(remedy.status)));
  return lines;
}

}  // namespace traceloom
