#include "analysis/verdict_words.h"

#include "analysis/verdict_doubts.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace traceloom {
namespace {

constexpr double kLeastTold = 0.005;  // of the steps

std::string percent_text(std::int64_t ns, const StepShare& of) {
  return fmt::format("{:.1f} %", StepShare{ns, of.of_ns, of.of}.share() * 100);
}

// What a share consists of, where it is not all of one kind.
std::string parts_text(const Verdict& verdict, Limit limit) {
  const LimitShare& share = verdict.shares[limit];
  const std::int64_t waiting_ns = limit == verdict.waiting_in ? verdict.waiting.ns : 0;
  const std::int64_t mixed_ns = share.ns - share.least_ns;
  std::vector<std::string> parts;
  if (limit == verdict.waiting_in && mixed_ns > 0) {
    parts.push_back(percent_text(share.ns - mixed_ns - waiting_ns, share) +
                    " beside event/backward");
    parts.push_back(percent_text(mixed_ns, share) +
                    " in it, computing or communication, which nothing tells apart");
  } else if (verdict.waiting.share() >= kLeastTold && waiting_ns > 0) {
    parts.push_back(percent_text(share.ns - waiting_ns, share) + " moving data");
  }
  if (verdict.waiting.share() >= kLeastTold && waiting_ns > 0)
    parts.push_back(percent_text(waiting_ns, share) + " waiting for other ranks");
  return parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "));
}

void add_shares(const Verdict& verdict, std::vector<std::string>& evidence) {
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    const Limit limit = static_cast<Limit>(i);
    const LimitShare& share = verdict.shares[limit];
    if (share.share() < kLeastTold) continue;
    evidence.push_back(
        fmt::format("{} {}{}", limit_name(limit), percent_text(share), parts_text(verdict, limit)));
  }
}

void add_delay_lines(const Verdict& verdict, const Findings& found,
                     std::vector<std::string>& evidence) {
  const StepShare& late = verdict.delays[Limit::data_loading];
  if (late.share() >= limit_threshold(Limit::data_loading))
    evidence.push_back(
        fmt::format("late data: the rank whose data comes last, one or another, "
                    "waits {} a step ({})",
                    format_duration(late.ns), percent_text(late)));
  const Straggler& straggler = found.straggler;
  if (straggler.changing_ns > 0)
    evidence.push_back(fmt::format("changing ranks: the others wait {} a step for one or another",
                                   format_duration(straggler.changing_ns)));
  if (!straggler.candidates.empty())
    evidence.push_back(fmt::format("{}: the others wait {} a step ({}); cause: {} ({})",
                                   rank_list(straggler), format_duration(straggler.delay_ns),
                                   percent_text(verdict.delays[Limit::straggler]),
                                   to_string(straggler.cause), straggler.why));
}

}  // namespace

std::string percent_text(const StepShare& share) {
  return fmt::format("{:.1f} % of {}", share.share() * 100, share.of.text());
}

std::string either_text(const std::vector<Limit>& limits) {
  std::vector<std::string_view> names;
  names.reserve(limits.size());
  for (const Limit limit : limits) names.push_back(limit_name(limit));
  return limits.size() == 1 ? fmt::format("{} or none", names.front())
                            : fmt::format("{}", fmt::join(names, " or "));
}

std::string candidates_text(const Straggler& straggler) {
  return rank_list(straggler) + " hold up the others";
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
  const std::string_view words = !verdict.is_delay(verdict.kind)       ? ""
                                 : verdict.kind == Limit::data_loading ? "late data: "
                                                                       : "the others wait ";
  line += fmt::format(" ({}{})", words, percent_text(verdict.cost(verdict.kind)));
  if (verdict.rank && verdict.of.rank) line += fmt::format(", rank {}", *verdict.rank);
  return line;
}

std::vector<std::string> evidence_of(const Verdict& verdict, const Findings& found) {
  if (found.basis.steps.count() == 0) return {"no steps: nothing to take a share of"};
  std::vector<std::string> evidence;
  add_shares(verdict, evidence);
  if (!found.loader.instrumented)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  add_delay_lines(verdict, found, evidence);
  return evidence;
}

std::vector<std::string> advice_of(const Verdict& verdict, const Findings& found) {
  switch (verdict.kind) {
    case Limit::data_loading:
      return {
          "more workers (num_workers), prefetch_factor, pinned memory, cheaper or cached "
          "preprocessing; see trace-stats dataloader"};
    case Limit::communication:
      return {
          "larger batches or gradient accumulation, larger buckets, lower precision of gradients, "
          "overlap with the backward pass; see trace-stats gpu, stragglers"};
    case Limit::straggler:
      return {fmt::format("look at {} first (cause: {}); see trace-stats stragglers",
                          rank_list(found.straggler), to_string(found.straggler.cause))};
    case Limit::memory:
      return {
          "fewer and larger copies, pinned memory with non_blocking, data that stays on the "
          "device"};
    case Limit::launch_bound:
      return {
          "CUDA graphs, torch.compile, larger batches, fewer synchronisations: the device waits "
          "for its host"};
    case Limit::idle:
      return {
          "record more (with_stack, the loader, I/O): device and host do nothing that was "
          "recorded"};
    case Limit::compute:
      return {found.devices ? "faster kernels: lower precision, tensor cores, fused operators"
                            : "faster operators on the host; see trace-stats summarize"};
    case Limit::inconclusive:
    case Limit::count_:
      break;
  }
  if (const std::string advice = advice_of_doubts(verdict, found); !advice.empty()) return {advice};
  if (found.straggler.candidates.size() > 1)
    return {"record collectives (torch.profiler) to tell these ranks apart"};
  if (!verdict.possible.empty())
    return {
        "record collectives (torch.profiler) to tell computing from communication in "
        "event/backward"};
  return {"record more steps, and both host and device activity"};
}

}  // namespace traceloom
