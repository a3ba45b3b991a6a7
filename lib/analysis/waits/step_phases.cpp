#include "analysis/waits/step_phases.h"

#include "analysis/waits/rank_waits.h"
#include "analysis/waits/role_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

constexpr StepPhase kPhases[] = {StepPhase::none, StepPhase::prefill, StepPhase::decode};

bool has_several_phases(const Run& run) {
  std::array<bool, std::size(kPhases)> seen{};
  for (const RankEvents& rank : run.ranks)
    for (const Step& step : rank.steps.list)
      if (step.counted) seen[static_cast<std::size_t>(step.phase)] = true;
  return std::count(seen.begin(), seen.end(), true) > 1;
}

}  // namespace

std::vector<PhaseSteps> find_phases(const std::vector<RankRoles>& ranks) {
  std::array<PhaseSteps, std::size(kPhases)> all;
  for (const StepPhase phase : kPhases) all[static_cast<std::size_t>(phase)].phase = phase;
  for (const RankRoles& rank : ranks)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) all[static_cast<std::size_t>(step.step.phase)].steps.add(step);
  std::vector<PhaseSteps> phases;
  for (const PhaseSteps& phase : all)
    if (phase.steps.count() > 0) phases.push_back(phase);
  return phases;
}

StepPhase main_phase(const std::vector<RankRoles>& ranks) {
  const std::vector<PhaseSteps> phases = find_phases(ranks);
  const auto longest =
      std::max_element(phases.begin(), phases.end(), [](const PhaseSteps& a, const PhaseSteps& b) {
        return a.steps.sum().total_ns < b.steps.sum().total_ns;
      });
  return longest == phases.end() ? StepPhase::none : longest->phase;
}

void keep_phase(std::vector<RankRoles>& ranks, StepPhase phase) {
  for (RankRoles& rank : ranks) {
    const auto is_other = [&](const StepRoles& step) { return step.step.phase != phase; };
    if (std::any_of(rank.steps.begin(), rank.steps.end(), is_other))
      rank.steps.rewrite([&](const StepRoles& step) { return !is_other(step); });
  }
}

std::vector<RankRoles> find_main_roles(const Run& run) {
  std::vector<RankRoles> ranks = find_all_roles(run);
  if (has_several_phases(run)) keep_phase(ranks, main_phase(ranks));
  return ranks;
}

namespace {

Table phases_table(const std::vector<PhaseSteps>& phases) {
  std::vector<Column> columns{{"kind", "Kind", ColumnKind::text},
                              {"steps", "Steps", ColumnKind::count},
                              {"mean_ns", "Mean", ColumnKind::duration}};
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    columns.push_back({fmt::format("{}_share", role_name(role)), role_title(role),
                       ColumnKind::share, role_readers(role)});
  }
  Table table(columns);
  for (const PhaseSteps& phase : phases) {
    std::vector<Cell> cells{Cell{std::string(to_string(phase.phase))},
                            Cell{static_cast<std::int64_t>(phase.steps.count())},
                            Cell{phase.steps.mean().total_ns}};
    const RoleShares shares = phase.steps.shares();
    for (std::size_t i = 0; i < kRoleCount; ++i) cells.emplace_back(shares[static_cast<Role>(i)]);
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

void append_phases(const Run& run, Report& report) {
  const auto is_inference = [](const RankEvents& rank) {
    return rank.steps.kind == StepKind::iterations;
  };
  if (std::none_of(run.ranks.begin(), run.ranks.end(), is_inference)) return;
  report.tables.push_back({"kinds", "Steps by kind, and where a mean one goes",
                           phases_table(find_phases(find_all_roles(run)))});
}

void note_phase(const Run& run, const std::vector<RankRoles>& kept, Report& report) {
  if (!has_several_phases(run)) return;
  report.notes.push_back(
      fmt::format("there are prefill and decode steps: all of this is of the {} ones, which take "
                  "most of the time",
                  to_string(main_phase(kept))));
}

std::string step_noun(StepPhase phase) {
  return phase == StepPhase::none ? "step" : fmt::format("{} step", to_string(phase));
}

}  // namespace traceloom
