#include "analysis/verdict/verdict_words.h"

#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr double kLeastTold = 0.005;  // share of the steps

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
                    (found.lacks_ranks() ? " moving data or waiting for ranks that are not here"
                                         : " in messages of which the other end is not known"));
  if (verdict.waiting.share() >= kLeastTold && waiting_ns > 0)
    parts.push_back(percent_text(waiting_ns, share) +
                    (verdict.waits_for_stages ? " waiting for other stages"
                     : by_steps               ? " beyond that, waiting for other ranks"
                                              : " waiting for other ranks"));
  return parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "));
}

// Converts the time of all steps into that of one step.
std::string mean_text(std::int64_t ns, const StepOwner& of) {
  const auto steps = static_cast<std::int64_t>(std::max<std::size_t>(of.steps, 1));
  return format_duration((ns + steps / 2) / steps) + (steps > 1 ? " a step" : "");
}

std::string frames_text(const Verdict& verdict, const Findings& found) {
  std::vector<std::string> texts;
  for (const FrameSum& frame : found.causes.frames) {
    texts.push_back(fmt::format("{} {}", frame.text(), mean_text(frame.ns, verdict.of)));
    if (!frame.inner.empty())
      texts.back() +=
          fmt::format(", most of it in {} {}", frame.inner, mean_text(frame.inner_ns, verdict.of));
  }
  return texts.empty() ? "" : fmt::format(": {}", fmt::join(texts, "; "));
}

std::string blocking_text(const Verdict& verdict, const Findings& found) {
  std::vector<std::string> texts;
  for (const BlockingSum& sum : found.causes.blocking) {
    texts.push_back(fmt::format("{} {} ({}, up to {})", sum.call, mean_text(sum.ns, verdict.of),
                                count_of(sum.calls, "call"), format_duration(sum.longest_ns)));
    if (!sum.callers.empty()) texts.back() += " in " + sum.callers;
  }
  std::string text = fmt::format(": {}", fmt::join(texts, "; "));
  if (found.causes.launched_ns > 0)
    text += fmt::format("; work had been launched in {:.0f} % of that",
                        100 * static_cast<double>(found.causes.launched_ns) /
                            static_cast<double>(verdict.shares[Limit::blocked].ns));
  return text;
}

std::string queued_text(const Verdict& verdict, const Findings& found) {
  const LimitShare& share = verdict.shares[Limit::queued];
  std::vector<std::string> texts;
  const std::int64_t between_ns = found.causes.kernel_wait_ns;
  const std::int64_t before_ns = found.causes.queued_before_ns;
  if (between_ns > 0)
    texts.push_back(percent_text(between_ns, share) + " from one kernel to the next");
  if (before_ns > 0)
    texts.push_back(percent_text(before_ns, share) +
                    " before the first work of these traces, with a launch that did not begin: it "
                    "does not count for the verdict");
  if (share.ns > between_ns + before_ns)
    texts.push_back(percent_text(share.ns - between_ns - before_ns, share) +
                    " launched and not begun: behind what these traces do not hold, another "
                    "stream, or another rank");
  return fmt::format(": {}", fmt::join(texts, ", "));
}

// Returns the parts of a share, if more than its size is known.
std::string more_text(const Verdict& verdict, const Findings& found, Limit limit) {
  if (limit == Limit::host_code) return frames_text(verdict, found);
  if (limit == Limit::blocked) return blocking_text(verdict, found);
  if (limit == Limit::queued) return queued_text(verdict, found);
  return parts_text(verdict, found, limit);
}

void add_shares(const Verdict& verdict, const Findings& found, std::vector<std::string>& evidence) {
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    const Limit limit = static_cast<Limit>(i);
    const LimitShare& share = verdict.shares[limit];
    if (share.share() < kLeastTold) continue;
    evidence.push_back(fmt::format("{} {}{}", limit_name(limit), percent_text(share),
                                   more_text(verdict, found, limit)));
  }
  if (verdict.programs.share() >= kLeastTold)
    evidence.push_back(fmt::format("whole programs ({}) {}: {}", found.doubts.programs,
                                   percent_text(verdict.programs),
                                   verdict.shares[Limit::compute].unknown_since));
  if (verdict.not_recorded.share() >= kLeastTold)
    evidence.push_back(fmt::format("not recorded {}: the traces do not show why no device works",
                                   percent_text(verdict.not_recorded)));
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
  return fmt::format("{} {} up the others", rank_list(straggler),
                     straggler.candidates.size() == 1 ? "holds" : "hold");
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
  line += fmt::format(" ({}{}", words, percent_text(verdict.cost(verdict.kind)));
  if (verdict.kind == Limit::communication && verdict.waits_for_stages) {
    const LimitShare& share = verdict.shares[verdict.kind];
    line += fmt::format(", {} without waiting", percent_text(share.ns - verdict.waiting.ns, share));
  }
  line += ')';
  if (verdict.rank && verdict.of.rank) line += fmt::format(", rank {}", *verdict.rank);
  return line;
}

std::vector<std::string> evidence_of(const Verdict& verdict, const Findings& found) {
  if (found.basis.steps.count() == 0) return {"no steps: nothing to take a share of"};
  std::vector<std::string> evidence;
  add_shares(verdict, found, evidence);
  if (found.is_alone)
    evidence.emplace_back(
        "1 rank of a job whose size is not known: time in its collectives includes waiting for "
        "those "
        "that are not here");
  else if (found.lacks_ranks())
    evidence.push_back(fmt::format(
        "{} of {} ranks: time in {} collectives includes waiting for those that are not here",
        found.roles.size(), found.world_size, found.roles.size() == 1 ? "its" : "their"));
  if (!found.loader.instrumented)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  add_delay_lines(verdict, found, evidence);
  return evidence;
}

}  // namespace traceloom
