#include "analysis/verdict/verdict_words.h"
#include "analysis/work/work_names.h"
#include "base/units.h"
#include "table/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

constexpr double kMostOfRow = 0.80;          // share of a row that its longest name has for itself
constexpr std::uint64_t kManyLaunches = 20;  // a step; fewer gain nothing by a graph
constexpr std::int64_t kLargeMessage = 2'000'000;  // ns of a collective
constexpr std::size_t kMostRemedies = 5;
constexpr std::size_t kMostWhere = 2;

std::string short_name(std::string_view name) {
  constexpr std::size_t kWidth = 40;
  return shorten_middle(one_line(name), kWidth);
}

// A cure says what can be done about a limit, and which command shows more.
struct Cure {
  std::string text;
  std::string_view see;
};

bool may_compile(const DeviceFacts& facts) {
  return facts.has_torch && !facts.compiles;
}

// Returns a name of a row whose whole time is the gain.
std::string name_in_row(std::string_view name, std::int64_t ns, const AccountSum& row) {
  return short_name(name) + (ratio(ns, row.ns) < kMostOfRow ? " and others" : "");
}

// Returns the longest name of a row whose whole time is the gain, or else that word.
std::string longest_of(AccountRow row, const Findings& found, const std::string& otherwise) {
  std::map<std::string_view, std::int64_t> times;  // whoever the callers are
  for (const NamedTime& one : found.account[row].names) add_to(times[one.name], one.ns);
  if (times.empty()) return otherwise;
  const auto longest = std::ranges::max_element(times, {}, [](auto& one) { return one.second; });
  return name_in_row(longest->first, longest->second, found.account[row]);
}

Cure compute_cure(const Findings& found) {
  if (!found.devices) {
    // Only `ops` has the own time of operators, and only those of torch.
    const std::string name = found.account[AccountRow::host_operator].longest().name;
    return {"a faster " + short_name(name), name.find("::") == name.npos ? "summarize" : "ops"};
  }
  const std::string& kernel = found.facts.longest;
  std::string text = "a faster " + short_name(kernel_name(kernel));
  const WorkType type = work_type("", kernel);
  if ((type == WorkType::gemm || type == WorkType::conv || type == WorkType::conv_bwd) &&
      uses_tensor_cores(kernel) == false)
    text += ": lower precision, tensor cores (its name shows none)";
  if (type == WorkType::elementwise) text += ", or fused with others";
  return {std::move(text), "kernels"};
}

// Graphs and compilers help if there are many launches with short gaps between them, and larger
// batches if the device needs less time for most work than its host for the launch.
Cure launch_cure(const Findings& found) {
  const Account& account = found.account;
  const AccountSum& launch = account[AccountRow::launch];
  const bool is_dense = account.launches >= kManyLaunches * found.basis.steps.count() &&
                        launch.long_ns < launch.ns - launch.long_ns;
  const DeviceFacts& facts = found.facts;
  const bool is_captured = facts.replays_graphs || facts.captures_graphs;
  std::vector<std::string_view> cures;
  if (is_dense && facts.has_torch && facts.has_graphs && !is_captured)
    cures.emplace_back("CUDA graphs");
  if (is_dense && may_compile(facts)) cures.emplace_back("torch.compile");
  if (2 * account.shorter > account.linked) cures.emplace_back("larger batches");
  if (cures.empty()) return {"less work of the host between launches", "launch"};
  return {fmt::format("{}", fmt::join(cures, ", ")), "launch"};
}

Cure code_cure(const Findings& found) {
  if (found.account.frames.empty())
    return {fmt::format("less Python between launches{}",
                        may_compile(found.facts) ? " (torch.compile)" : ""),
            "tree"};
  const FrameSum& frame = found.account.frames.front();
  return {fmt::format("less Python in {}: faster, compiled, or in workers",
                      name_in_row(frame.text(), frame.ns, found.account[AccountRow::host_code])),
          "tree"};
}

Cure call_cure(const Findings& found) {
  return {fmt::format("no {} within the steps: do it once, before them",
                      longest_of(AccountRow::host_call, found, "long call")),
          "tree"};
}

Cure blocked_cure(const Findings& found) {
  const std::string call = longest_of(AccountRow::blocked, found, "that call");
  return {fmt::format("fewer calls of {}: {}", call,
                      call.find("Synchronize") != call.npos
                          ? "events that wait only for what is needed"
                          : "pinned memory with non_blocking, fewer values read"),
          "idle"};
}

Cure turn_around_cure(const Findings& found) {
  const AccountSum& sum = found.account[AccountRow::turn_around];
  if (sum.long_ns < sum.ns - sum.long_ns)
    return {"fewer and larger kernels: fused operators, larger batches", "kernels"};
  return {"find what else uses the device: it had its next work and waited", "idle"};
}

Cure memory_cure(const Findings& found) {
  const DeviceFacts& facts = found.facts;
  if (facts.pageable_ns > facts.copy_ns - facts.pageable_ns)
    return {"pinned memory: most of the time is copies of pageable memory", "memcpy"};
  if (facts.within_ns > facts.copy_ns - facts.within_ns)
    return {"fewer copies within the device: tensors as they lie, changed in place", "memcpy"};
  const AccountSum& copies = found.account[AccountRow::memcpy];
  if (copies.ns > kLongPart * static_cast<std::int64_t>(copies.n))
    return {"less data to copy, data that stays on the device, overlap with kernels", "memcpy"};
  return {"fewer and larger copies, data that stays on the device", "memcpy"};
}

Cure idle_cure(const Findings& found) {
  if (2 * Int128{found.account.beside_ns} >= found.account[AccountRow::idle].ns)
    return {"look at what other threads do meanwhile: the one that launches waits", "idle"};
  return {found.has_frames ? "look at other threads and processes: the host launches nothing"
                           : "record what the host does (with_stack, I/O)",
          "idle"};
}

// Chooses what to do by what moves most of the data that no work hides.
Cure communication_cure(const Findings& found) {
  const StageWaits& stages = found.stages;
  if (stages.is_pipeline && stages.inner_ns > stages.message_ns && stages.inner_ns > stages.end_ns)
    return {"less communication, first of tensor- or expert-parallel groups: smaller, in one host",
            "comm"};
  if (stages.is_pipeline && stages.message_ns > stages.end_ns)
    return {"overlap of communication with computing, first of messages between stages", "comm"};
  if (!found.trains && !stages.is_pipeline)
    return {"fewer and larger collectives, overlap with computing", "comm"};
  // Messages that take this long are not too small.
  const AccountSum& sum = found.account[AccountRow::communication];
  if (sum.ns - std::min(stages.wait_ns, sum.ns) >= kLargeMessage * static_cast<std::int64_t>(sum.n))
    return {"overlap with the backward pass, lower precision of what is sent, a faster network",
            "comm"};
  return {"larger buckets or batches, overlap with the backward pass", "comm"};
}

// Says what to do about what is unlike the others.
std::string odd_advice(const Repair& odd, const Findings& found) {
  const std::string words = odd.whom();
  switch (odd.kind) {
    case Repair::Kind::stage:
      return found.has_lone_stages
                 ? fmt::format("look at the device of {}, or move layers to the others", words)
                 : fmt::format("move layers from {} to the others", words);
    case Repair::Kind::link:
    case Repair::Kind::group:
      return fmt::format("look at {}: hosts, network, routing", words);
    default:
      return found.straggler.rank == odd.ranks.front()
                 ? fmt::format("look at {} (cause: {})", words, to_string(found.straggler.cause))
                 : "look at " + words;
  }
}

Cure odd_cure(const Findings& found) {
  const std::vector<Repair>& repairs = found.oddest->repairs;
  const auto is_rank = [](const Repair& odd) { return odd.kind == Repair::Kind::rank; };
  if (repairs.size() > 1 && std::ranges::all_of(repairs, is_rank))
    return {"look at " + found.oddest->whom(), "what-if"};
  std::string all;
  for (const Repair& odd : repairs) all += (all.empty() ? "" : "; ") + odd_advice(odd, found);
  return {all, "what-if"};
}

Cure cure_of(Limit limit, const Findings& found) {
  switch (limit) {
    case Limit::data_loading:
      return {"more workers, prefetch_factor, cheaper or cached preprocessing", "dataloader"};
    case Limit::communication:
      return communication_cure(found);
    case Limit::straggler:
      if (found.oddest) return odd_cure(found);
      return {found.straggler.candidates.empty()
                  ? "look at the ranks that come last"
                  : fmt::format("look at {} first (cause: {})", rank_list(found.straggler),
                                to_string(found.straggler.cause)),
              "stragglers"};
    case Limit::memory:
      return memory_cure(found);
    case Limit::launch_bound:
      return launch_cure(found);
    case Limit::host_operator:
      return {fmt::format("less of {} on the host, or out of the step",
                          longest_of(AccountRow::host_operator, found, "operators")),
              "ops"};
    case Limit::host_call:
      return call_cure(found);
    case Limit::host_code:
      return code_cure(found);
    case Limit::blocked:
      return blocked_cure(found);
    case Limit::queued:
      return {"record what else uses the device (processes, streams, ranks)", "idle"};
    case Limit::turn_around:
      return turn_around_cure(found);
    case Limit::profiler:
      return {"record less (no stacks, shapes or memory), or after more steps of warm-up", "idle"};
    case Limit::idle:
      return idle_cure(found);
    case Limit::compute:
      return compute_cure(found);
    case Limit::inconclusive:
    case Limit::count_:
      break;
  }
  return {};
}

// Returns the events in which most of the gain is.
std::string where_of(Limit limit, const Verdict& verdict, const Findings& found) {
  if (limit == Limit::compute && found.devices)
    return fmt::format("{} {}", short_name(kernel_name(found.facts.longest)),
                       step_text(verdict.gains[limit].ns, verdict.of));
  const AccountRow row = limit == Limit::compute ? AccountRow::host_operator : row_of(limit).row;
  if (row == AccountRow::count_) return {};
  std::vector<NamedTime> names = found.account[row].names;
  if (row == AccountRow::host_code)
    for (const FrameSum& frame : found.account.frames)
      names.push_back({frame.text(), {}, frame.ns});
  const std::string& before = found.account[row].before;
  if (names.empty() && !before.empty())
    return "the longest is before " + short_name(kernel_name(before));
  return names_text(names, verdict.of, kMostWhere);
}

Remedy remedy_of(Limit limit, const Verdict& verdict, const Findings& found) {
  Cure cure = cure_of(limit, found);
  const AccountRow row = row_of(limit).row;
  std::size_t events = verdict.events[limit];
  if (limit == Limit::compute)  // the gain is that of one name
    events = found.devices ? found.facts.longest_n
                           : found.account[AccountRow::host_operator].longest().n;
  return {.limit = limit,
          .text = std::move(cure.text),
          .see = cure.see,
          .gain = verdict.gains[limit],
          .events = events,
          .longest_ns = row == AccountRow::count_ ? 0 : found.account[row].longest_ns,
          .where = where_of(limit, verdict, found),
          .status = verdict.status[limit]};
}

std::string missing_ranks(const Findings& found) {
  return fmt::format(
      "record the other ranks, too ({}), to tell moving from waiting; see trace-stats comm",
      found.is_alone ? "one is here"
                     : fmt::format("{} of {} are here", found.roles.size(), found.world_size));
}

// Says what to record for a verdict, by the reason why it is inconclusive.
std::string record_next(const Verdict& verdict, const Findings& found) {
  if (found.is_coarse)
    return "replay these operations for what each stage, replica and rank costs; see trace-stats "
           "what-if";
  if (std::optional<std::string> record = record_for_doubts(verdict, found))
    return *std::move(record);
  if (found.lost_all)
    return "record fewer steps at a time: the profiler lost device work (lost_work); see "
           "trace-stats check";
  if (found.straggler.candidates.size() > 1 && found.waits.kind == MeetingKind::collectives)
    return fmt::format(
        "look at what {} have in common (host, group, stage); see trace-stats stragglers",
        rank_list(found.straggler));
  if (found.straggler.candidates.size() > 1)
    return "record collectives (torch.profiler) to see which is late; see trace-stats stragglers";
  if (verdict.is_left_out && found.account[AccountRow::capture].ns > 0)
    return "record steps that replay the graph, which is only captured here; see trace-stats steps";
  if (verdict.is_left_out)
    return fmt::format("record several whole steps after a warm-up{}; see trace-stats steps",
                       found.devices ? "" : ", with devices");
  const bool is_untold =
      verdict.untold.ns > 0 && verdict.untold.share() > verdict.not_recorded.share();
  if (is_untold && found.lacks_ranks()) return missing_ranks(found);
  if (is_untold)
    return "record all ranks that messages go to, to tell moving from waiting; see trace-stats "
           "comm";
  const bool barriers = verdict.waiting_in != Limit::communication;
  if (verdict.possible.empty())
    return "record more steps, and both host and device activity; see trace-stats steps";
  if (verdict.not_recorded.ns > 0 && !barriers)
    return found.devices
               ? "record whole steps, and host and device together; see trace-stats idle"
               : "record what the host does (with_stack, the loader, I/O); see trace-stats steps";
  return "record collectives (torch.profiler): event/backward holds both; see trace-stats comm";
}

// Without its waiting, a step lasts as long as the rank needs that waits least.
StepShare bubble_gain(const Verdict& verdict, const Findings& found) {
  if (found.job == nullptr) return verdict.waiting;
  const StepShare least = found.basis.share(
      static_cast<std::int64_t>(found.least_waiting * static_cast<double>(verdict.waiting.of_ns)));
  return least.share() < verdict.waiting.share() ? least : verdict.waiting;
}

}  // namespace

std::vector<Remedy> remedies_of(const Verdict& verdict, const Findings& found) {
  std::vector<Remedy> remedies;
  for (const Limit limit : kAllOf<Limit>)
    if (limit != Limit::inconclusive && verdict.gains[limit].share() >= kWorthNaming)
      remedies.push_back(remedy_of(limit, verdict, found));
  if (verdict.waits_for_stages && bubble_gain(verdict, found).share() >= kWorthNaming)
    remedies.push_back({.limit = Limit::communication,
                        .text = "more micro-batches, or stages that take as long as each other",
                        .see = "comm",
                        .part = "waiting",
                        .gain = bubble_gain(verdict, found),
                        .events = found.stages.messages});
  std::ranges::stable_sort(remedies, std::greater(),
                           [](const Remedy& remedy) { return remedy.gain.share(); });
  // A limit may be the verdict although another one gains more: a straggler that causes it.
  const auto own = std::ranges::find_if(remedies, [&](const Remedy& remedy) {
    return remedy.limit == verdict.kind && remedy.part.empty();
  });
  if (own != remedies.end()) std::rotate(remedies.begin(), own, own + 1);
  if (remedies.size() > kMostRemedies) remedies.resize(kMostRemedies);
  return remedies;
}

std::string next_of(const Verdict& verdict, const Findings& found) {
  if (verdict.kind == Limit::inconclusive) return record_next(verdict, found);
  if (verdict.kind == Limit::communication && found.lacks_ranks()) return missing_ranks(found);
  const Cure cure = cure_of(verdict.kind, found);
  return fmt::format("{}; see trace-stats {}", cure.text, cure.see);
}

}  // namespace traceloom
