// advice_of: advises what to do next, by the limits of a run and its content. It recommends nothing
// that the run already has.
#include "analysis/verdict/verdict_doubts.h"
#include "analysis/verdict/verdict_words.h"
#include "base/units.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace traceloom {
namespace {

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
  const auto share_of = [](std::int64_t part, std::int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
  };
  if (facts.fp8_ns == 0 && share_of(facts.plain_ns, facts.kernel_ns) >= kIsMultiplied &&
      share_of(facts.tensor_ns, facts.eligible_ns) < kUsesTensorCores)
    return "faster kernels: lower precision, tensor cores, fused operators";
  if (share_of(facts.eligible_ns, facts.kernel_ns) < kIsMultiplied)
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
