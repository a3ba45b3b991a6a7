#include "analysis/verdict/verdict_words.h"

#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

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
  for (const Limit limit : kAllOf<Limit>) {
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
  if (found.lost_all) return {"no step counts: the profiler lost device work that they launched"};
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
        found.roles.size(), found.world_size, plural(found.roles.size(), "its", "their")));
  if (!found.loader.instrumented)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  add_delay_lines(verdict, found, evidence);
  return evidence;
}

namespace {

// advice_of: advises what to do next, by the limits of a run and its content. It recommends nothing
// that the run already has.

constexpr double kUsesTensorCores = 0.10;   // share of the time of kernels that could use them
constexpr double kIsMultiplied = 0.10;      // share of the time of all kernels
constexpr double kMuchWaiting = 0.10;       // share of the steps that is waiting for other stages
constexpr std::int64_t kMoreThanOneIn = 2;  // more than one part in this number
constexpr const char* kBucketAdvice =
    "larger batches or gradient accumulation, larger buckets, lower precision of gradients, "
    "overlap "
    "with the backward pass; see trace-stats gpu, stragglers";
constexpr const char* kNoTrainingAdvice =
    "larger batches, fewer and larger collectives, groups of ranks within one host, overlap with "
    "computing; see trace-stats comm, gpu";

bool is_most(std::int64_t part, std::int64_t all) {
  return part > all / kMoreThanOneIn;
}

bool may_compile(const DeviceFacts& facts) {
  return facts.has_torch && !facts.compiles;
}

std::string compute_advice(const Findings& found) {
  if (!found.devices)
    return "faster operators and functions on the host; see trace-stats summarize, tree";
  const DeviceFacts& facts = found.facts;
  if (facts.fp8_ns == 0 && ratio(facts.plain_ns, facts.kernel_ns) >= kIsMultiplied &&
      ratio(facts.tensor_ns, facts.eligible_ns) < kUsesTensorCores)
    return "faster kernels: lower precision, tensor cores, fused operators";
  if (ratio(facts.eligible_ns, facts.kernel_ns) < kIsMultiplied)
    return fmt::format("fewer and faster kernels: fused operators{}; see trace-stats kernels",
                       may_compile(facts) ? " (torch.compile)" : "");
  return "faster kernels: larger shapes, fused operators; see trace-stats kernels";
}

std::string launch_advice(const Findings& found) {
  if (found.facts.captures_graphs)
    return "record steps that do not capture: what is captured is not slow when it is replayed";
  const bool may_capture =
      found.facts.has_torch && found.facts.has_graphs && !found.facts.replays_graphs;
  return fmt::format("{}{}larger batches, fewer synchronisations: the device waits for its host",
                     may_capture ? "CUDA graphs, " : "",
                     may_compile(found.facts) ? "torch.compile, " : "");
}

std::string code_advice(const Findings& found) {
  if (found.causes.frames.empty())
    return fmt::format(
        "less Python between launches: {}work done ahead of the step; see trace-stats tree",
        may_compile(found.facts) ? "torch.compile, " : "");
  return fmt::format(
      "{}: ahead of the step (in workers), faster, or on the device; see trace-stats tree",
      found.causes.frames.front().text());
}

std::string blocked_advice(const Findings& found) {
  const std::string call =
      found.causes.blocking.empty() ? "that call" : found.causes.blocking.front().call;
  if (is_most(found.causes.launched_ns, found.causes[IdleCause::blocked].ns))
    return fmt::format(
        "look at what {} waits for: work had been launched and did not begin, so the device was "
        "busy with what these traces do not hold, or waited for another stream or rank",
        call);
  if (call.ends_with("Synchronize"))
    return fmt::format(
        "fewer calls of {}: once in many steps, or events and streams that wait only for what is "
        "needed",
        call);
  return fmt::format(
      "fewer calls of {}: pinned memory with non_blocking=True, values read (item, cpu) once in "
      "many steps",
      call);
}

std::string queued_advice(const Findings& found) {
  if (is_most(found.causes.kernel_wait_ns, found.causes[IdleCause::queued].ns))
    return "fewer and larger kernels (fused operators, larger batches): the device changes "
           "between them as long as that";
  return "record all that uses the device (processes, streams, ranks): work was launched and did "
         "not begin; see trace-stats idle, launch";
}

std::string idle_advice(const Findings& found) {
  if (found.has_frames)
    return "look at what other threads and processes do: the host launches nothing, and is in no "
           "function that was recorded; see trace-stats idle";
  return "record more (with_stack, the loader, I/O): device and host do nothing that was recorded";
}

// Chooses the advice by what moves most of the data that no work hides.
std::string pipeline_advice(const StageWaits& stages) {
  if (stages.inner_ns > stages.message_ns && stages.inner_ns > stages.end_ns)
    return "smaller tensor- or expert-parallel groups, each within one host, overlap with "
           "computing: "
           "most of the data moves in collectives within the micro-batches; see trace-stats comm";
  if (stages.message_ns > stages.end_ns)
    return "overlap of sends and receives with computing, neighbouring stages on near hosts: most "
           "of "
           "the data moves in messages between stages; see trace-stats comm";
  return kBucketAdvice;
}

std::string missing_ranks_advice(const Findings& found) {
  const std::string here =
      found.is_alone ? "one is here"
                     : fmt::format("{} of {} are here", found.roles.size(), found.world_size);
  return fmt::format(
      "record the other ranks, too ({}): then moving data and waiting for ranks are separate "
      "shares",
      here);
}

// Returns advice about all of a limit's share.
Advice about(const Verdict& verdict, Limit limit, std::string text) {
  return {std::move(text),      limit, {}, verdict.cost(limit), verdict.status[limit],
          verdict.events[limit]};
}

// Returns advice about a part of a limit's share, which consists of the same events.
Advice about_part(const Verdict& verdict, Limit limit, std::string_view part,
                  const StepShare& share, std::string text) {
  Advice advice = about(verdict, limit, std::move(text));
  advice.part = part;
  advice.share = share;
  return advice;
}

Advice untold_advice(const Verdict& verdict, std::string text) {
  Advice advice = about_part(verdict, Limit::communication, "moving data or waiting",
                             verdict.untold, std::move(text));
  advice.status = Status::cannot_tell;
  return advice;
}

std::vector<Advice> communication_advice(const Verdict& verdict, const Findings& found) {
  std::vector<Advice> advice;
  if (found.lacks_ranks()) advice.push_back(untold_advice(verdict, missing_ranks_advice(found)));
  StepShare moving = verdict.shares[Limit::communication];
  moving.ns -= verdict.waiting.ns + verdict.untold.ns;
  const char* const without_stages = found.trains ? kBucketAdvice : kNoTrainingAdvice;
  advice.push_back(
      about_part(verdict, Limit::communication, "moving data", moving,
                 found.stages.is_pipeline ? pipeline_advice(found.stages) : without_stages));
  return advice;
}

// Advises what to record for a verdict, by the reason why it is inconclusive.
Advice record_advice(const Verdict& verdict, const Findings& found) {
  if (std::optional<Advice> advice = advice_of_doubts(verdict, found)) return *std::move(advice);
  if (found.lost_all)
    return Advice{
        "record again, with larger buffers of the profiler or fewer steps at a time: launches lack "
        "their device work (lost_work)"};
  if (found.straggler.candidates.size() > 1 && found.waits.kind == MeetingKind::collectives)
    return about(
        verdict, Limit::straggler,
        fmt::format("look at what {} have in common (their stage, group, host or part of the "
                    "model): the others wait for all of them alike; see trace-stats stragglers",
                    rank_list(found.straggler)));
  if (found.straggler.candidates.size() > 1)
    return about(verdict, Limit::straggler,
                 "record collectives (torch.profiler) to see which of these ranks is late");
  const bool is_untold =
      verdict.untold.ns > 0 && verdict.untold.share() > verdict.not_recorded.share();
  if (is_untold && found.lacks_ranks()) return untold_advice(verdict, missing_ranks_advice(found));
  if (is_untold)
    return untold_advice(verdict,
                         "record all ranks, with the ranks that messages go to: then waiting and "
                         "moving data are separate shares");
  const bool barriers = verdict.waiting_in != Limit::communication;
  if (verdict.not_recorded.ns > 0 && !barriers && !verdict.possible.empty())
    return about_part(
        verdict, Limit::inconclusive, "not recorded", verdict.not_recorded,
        "record whole steps, and host and device together: the traces do not show why the "
        "device waits");
  if (!verdict.possible.empty())
    return about(verdict, verdict.waiting_in,
                 "record collectives (torch.profiler) to separate computing from communication in "
                 "event/backward");
  return Advice{"record more steps, and both host and device activity"};
}

std::string limit_advice(const Verdict& verdict, const Findings& found) {
  switch (verdict.kind) {
    case Limit::data_loading:
      return "more workers (num_workers), prefetch_factor, pinned memory, cheaper or cached "
             "preprocessing; see trace-stats dataloader";
    case Limit::straggler:
      return fmt::format("look at {} first (cause: {}); see trace-stats stragglers",
                         rank_list(found.straggler), to_string(found.straggler.cause));
    case Limit::memory:
      return "fewer and larger copies, pinned memory with non_blocking, data that stays on the "
             "device";
    case Limit::launch_bound:
      return launch_advice(found);
    case Limit::host_code:
      return code_advice(found);
    case Limit::blocked:
      return blocked_advice(found);
    case Limit::queued:
      return queued_advice(found);
    case Limit::idle:
      return idle_advice(found);
    case Limit::compute:
      return compute_advice(found);
    case Limit::communication:
    case Limit::inconclusive:
    case Limit::count_:
      break;
  }
  return {};
}

std::vector<Advice> advice_for(const Verdict& verdict, const Findings& found) {
  if (verdict.kind == Limit::communication) return communication_advice(verdict, found);
  if (verdict.kind == Limit::inconclusive) return {record_advice(verdict, found)};
  return {about(verdict, verdict.kind, limit_advice(verdict, found))};
}

// Advice about waiting for other stages is about messages, of which each end counts.
Advice stages_advice(const Verdict& verdict, const Findings& found) {
  Advice advice = about_part(verdict, Limit::communication, "waiting", verdict.waiting,
                             fmt::format("more micro-batches, or stages that take as long as each "
                                         "other: waiting for other stages takes {}",
                                         percent_text(verdict.waiting)));
  advice.events = found.stages.messages;
  return advice;
}

}  // namespace

std::vector<Advice> advice_of(const Verdict& verdict, const Findings& found) {
  std::vector<Advice> advice = advice_for(verdict, found);
  if (!verdict.waits_for_stages || verdict.waiting.share() < kMuchWaiting) return advice;
  // If communication is the verdict, the advice for its larger part comes first.
  const std::int64_t moving_ns = verdict.shares[Limit::communication].ns - verdict.waiting.ns;
  const bool is_first = verdict.kind == Limit::communication && verdict.waiting.ns > moving_ns;
  advice.insert(is_first ? advice.begin() : advice.end(), stages_advice(verdict, found));
  return advice;
}

std::vector<std::string> texts_of(const std::vector<Advice>& advice) {
  std::vector<std::string> texts;
  texts.reserve(advice.size());
  for (const Advice& one : advice) texts.push_back(one.text);
  return texts;
}

}  // namespace traceloom
