#include "analysis/findings/straggler.h"
#include "analysis/replay/what_if.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

std::string verdict_json(const Straggler& found) {
  return json_object([&](JsonWriter& json) {
    json.member("rank", found.rank);
    json.member("cause", to_string(found.cause));
    json.member("confidence", found.confidence);
    write_list(json, "candidates", found.candidates);
    json.member("pattern", to_string(found.pattern));
    json.member("waited_for_share", found.waited_for_share);
    json.member("delay_ns_per_step", found.delay_ns);
    json.member("delay_share", found.delay_share);
    json.member("delay_is_gap", found.delay_is_gap);
    json.member("delay_is_gain", found.is_gain);
    json.member("is_small", found.is_small);
    json.member("changing_ns_per_step", found.changing_ns);
    json.member("why", found.why);
    json.member("measured_ns_per_step", found.measured_ns);
    write_list(json, "last_most_often", found.last.ranks);
    json.member("times_last", found.last.times);
    json.member("steps", found.last.steps);
  });
}

// The place of a rank among those that meet.
struct MetRank {
  const RankRoles& rank;
  const RoleTimes& own;
  std::size_t index = 0;
};

// The sum over the steps that all ranks share.
std::int64_t shared_ns(const RankWaits& waits, const MetRank& of) {
  std::int64_t total_ns = 0;
  for_each_shared(of.rank.steps, waits.step_index[of.index],
                  [&](std::size_t, const StepRoles& step) { add_to(total_ns, step.total_ns); });
  return total_ns;
}

Table rows_table(const RankWaits& waits, const std::vector<RankRoles>& roles) {
  using enum ColumnKind;
  using enum Readers;
  using Row = MetRank;
  const std::vector<std::size_t> last = waits.times_last();
  const auto steps = static_cast<std::int64_t>(waits.steps.size());
  const bool meet = waits.kind != MeetingKind::none;
  std::vector<MetRank> rows;
  for (std::size_t i = 0; i < waits.ranks.size() && steps > 0; ++i)
    rows.push_back({roles[waits.ranks[i]], waits.own_ns[i], i});
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, [](auto& of) { return of.rank.rank; }},
      {"steps", "Steps", count, some, [=](const Row&) { return steps; }},
      {"waited_for_share", "Last", share,
       [&](auto& of) {
         return cell_if(meet, ratio(static_cast<std::int64_t>(last[of.index]), steps));
       }},
      {"delay_ns_per_step", "Delay/step", duration,
       [&](auto& of) { return cell_if(meet, waits.mean_delay_ns(of.index)); }},
      {"wait_ns_per_step", "Wait/step", duration,
       [&](auto& of) { return cell_if(meet, waits.mean_wait_ns(of.index)); }},
      {"step_ns", "Step", duration, most, [&](auto& of) { return shared_ns(waits, of) / steps; }},
      {"own_kernel_ns", "Kernel", duration, most, [](auto& of) { return of.own[Role::kernel]; }},
      {"own_memcpy_ns", "Copies", duration, some,
       [](auto& of) { return of.own[Role::memcpy] + of.own[Role::memset]; }},
      {"own_runtime_ns", "Runtime", duration, some, [](auto& of) { return of.own[Role::runtime]; }},
      {"own_dataloader_ns", "Loader", duration, most,
       [](auto& of) { return of.own[Role::dataloader]; }},
      {"own_cpu_ns", "Host", duration, most,
       [&](auto& of) { return saturating_add(of.own[Role::cpu], of.own[Role::host_code]); }},
      {"own_other_ns", "Other", duration, some, [](auto& of) { return of.own[Role::other]; }},
  };
  return make_table(rows, columns);
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

void note_missing_ranks(const Mesh& mesh, Report& report) {
  if (!mesh.missing.empty())
    report.notes.push_back(fmt::format("no trace of {} of {}: the others may wait for {}",
                                       ranks_words(mesh.missing, RankStyle::sentence), mesh.world,
                                       plural(mesh.missing.size(), "it", "one of these")));
}

}  // namespace

Report stragglers_report(const Run& run) {
  const std::vector<RankRoles> roles = find_main_roles(run);
  const RankWaits waits = find_waits(run, roles);
  const Straggler found = find_straggler(run, roles, waits);
  Report report("stragglers", run);
  report.values.emplace_back("verdict", verdict_json(found));
  const Mesh& mesh = find_mesh(run);
  if (waits.kind != MeetingKind::none) report.headline.push_back(straggler_headline(found));
  if (mesh.splits_model()) {
    const WhatIf& job = find_job_gains(run);
    for (const Gain& gain : job.odd())
      if (std::string words = job.words(gain); words != found.gain_words)
        (found.candidates.empty() ? report.headline : report.notes)
            .push_back(fmt::format("If repaired: {}.", words));
  }
  report.tables.push_back({"rows", "", rows_table(waits, roles)});
  note_meetings(waits, report);
  note_left_out(run, waits, report);
  note_missing_ranks(mesh, report);
  note_phase(run, roles, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
