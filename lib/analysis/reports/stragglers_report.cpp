#include "analysis/reports/stragglers_report.h"

#include "analysis/findings/straggler.h"
#include "analysis/findings/straggler_cause.h"
#include "analysis/reports/steps_report.h"
#include "analysis/waits/step_roles.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "output/json_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {
namespace {

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
  json.value(to_string(found.pattern));
  json.key("waited_for_share");
  json.value(found.waited_for_share);
  json.key("delay_ns_per_step");
  json.value(found.delay_ns);
  json.key("delay_share");
  json.value(found.delay_share);
  json.key("delay_is_gap");
  json.value(found.delay_is_gap);
  json.key("is_small");
  json.value(found.is_small);
  json.key("changing_ns_per_step");
  json.value(found.changing_ns);
  json.key("why");
  json.value(found.why);
  json.key("measured_ns_per_step");
  json.value(found.measured_ns);
  json.key("last_most_often");
  json.begin_array();
  for (const std::int64_t rank : found.last.ranks) json.value(rank);
  json.end_array();
  json.key("times_last");
  json.value(found.last.times);
  json.key("steps");
  json.value(found.last.steps);
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
  const std::vector<std::size_t> last = waits.times_last();
  const auto steps = static_cast<std::int64_t>(waits.steps.size());
  const bool meet = waits.kind != MeetingKind::none;
  const auto if_they_meet = [&](const Cell& cell) { return meet ? cell : Cell{}; };
  for (std::size_t i = 0; i < waits.ranks.size() && steps > 0; ++i) {
    const RankRoles& rank = roles[waits.ranks[i]];
    std::int64_t total_ns = 0;
    for_each_shared(rank.steps, waits.step_index[i],
                    [&](std::size_t, const StepRoles& step) { add_to(total_ns, step.total_ns); });
    const RoleTimes& own = waits.own_ns[i];
    const double last_share = static_cast<double>(last[i]) / static_cast<double>(steps);
    table.add_row({rank.rank, steps, if_they_meet(last_share), if_they_meet(waits.mean_delay_ns(i)),
                   if_they_meet(waits.mean_wait_ns(i)), total_ns / steps, own[Role::kernel],
                   own[Role::memcpy] + own[Role::memset], own[Role::runtime], own[Role::dataloader],
                   saturating_add(own[Role::cpu], own[Role::host_code]), own[Role::other]});
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
        "no collectives and no event/backward: the traces do not show where ranks wait for each "
        "other");
  else if (waits.kind == MeetingKind::barriers)
    report.notes.emplace_back(
        "no collectives recorded: ranks are taken to wait for each other in event/backward");
  else if (!waits.one_by_one)
    report.notes.emplace_back(
        "most of the communication is not in collectives that can be compared one by one (the same "
        "on all ranks, in which all wait for all): compared step by step");
}

void note_left_out(const Run& run, const RankWaits& waits, Report& report) {
  RankNotes notes;
  for (const std::size_t rank : waits.without_steps)
    notes.add(run.ranks[rank].rank, "no steps are marked: not compared with the others");
  for (const std::size_t rank : waits.without_communication)
    notes.add(run.ranks[rank].rank, "no communication was recorded: not compared with the others");
  notes.append_to(report);
}

void note_missing_ranks(const Run& run, Report& report) {
  for (const RunFile& file : run.files)
    if (const std::uint64_t missing = file.clock_problems.count(Problem::missing_rank); missing > 0)
      report.notes.push_back(fmt::format("no trace of {} {}: the others may wait for {}",
                                         plural(missing, "rank"),
                                         file.clock_problems.explanation(Problem::missing_rank),
                                         plural(missing, "it", "one of these")));
}

}  // namespace

Report stragglers_report(const Run& run) {
  const std::vector<RankRoles> roles = find_main_roles(run);
  const RankWaits waits = find_waits(run, roles);
  const Straggler found = find_straggler(run, roles, waits);
  Report report("stragglers", run);
  std::string verdict;
  write_verdict(found, verdict);
  report.values.emplace_back("verdict", verdict);
  if (waits.kind != MeetingKind::none) report.headline.push_back(straggler_headline(found));
  report.tables.push_back({"rows", "", rows_table(waits, roles)});
  note_meetings(waits, report);
  note_left_out(run, waits, report);
  note_missing_ranks(run, report);
  note_phase(run, roles, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
