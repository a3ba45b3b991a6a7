#include "analysis/reports/steps_report.h"

#include "analysis/devices/device_facts.h"
#include "analysis/findings/loader_waits.h"
#include "analysis/numbers.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace traceloom {
namespace {

std::string role_key(Role role, bool raw) {
  return fmt::format("{}{}_ns", raw ? "raw_" : "", role_name(role));
}

void append_role_columns(std::vector<Column>& columns, bool raw) {
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    const std::string title = role_title(role);
    columns.push_back({role_key(role, raw), raw ? "Raw " + title : title, ColumnKind::duration,
                       raw ? Readers::few : role_readers(role)});
  }
}

void append_role_cells(std::vector<Cell>& cells, const RoleTimes& times) {
  for (std::size_t i = 0; i < kRoleCount; ++i) cells.emplace_back(times[static_cast<Role>(i)]);
}

Cell optional_number(std::int64_t number) {
  return number == kNoId ? Cell{} : Cell{number};
}

const Column kKindColumn{"kind", "Kind", ColumnKind::text};

Cell kind_cell(StepPhase phase) {
  return phase == StepPhase::none ? Cell{} : Cell{std::string(to_string(phase))};
}

bool has_kinds(const std::vector<RankRoles>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [](const RankRoles& rank) {
    return std::any_of(rank.steps.begin(), rank.steps.end(),
                       [](const StepRoles& step) { return step.step.phase != StepPhase::none; });
  });
}

// Calls use(rank, phase) for each rank and each kind of its steps.
template <typename Use>
void for_each_kind(const std::vector<RankRoles>& ranks, Use use) {
  for (const RankRoles& rank : ranks) {
    std::set<StepPhase> phases;
    for (const StepRoles& step : rank.steps) phases.insert(step.step.phase);
    for (const StepPhase phase : phases) use(rank, phase);
  }
}

bool is_of_mean(const StepRoles& step, StepPhase phase) {
  return step.step.counted && step.step.phase == phase;
}

StepSum sum_of(const RankRoles& rank, StepPhase phase) {
  StepSum sum;
  for (const StepRoles& step : rank.steps)
    if (is_of_mean(step, phase)) sum.add(step);
  return sum;
}

// Returns the first cells of a row about a rank's steps of one kind.
std::vector<Cell> row_start(const RankRoles& rank, StepPhase phase, bool kinds) {
  std::vector<Cell> cells{Cell{rank.rank}};
  if (kinds) cells.push_back(kind_cell(phase));
  return cells;
}

std::vector<Column> step_columns(bool raw, bool epochs, bool kinds) {
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count}};
  if (kinds) columns.push_back(kKindColumn);
  if (epochs) columns.push_back({"epoch", "Epoch", ColumnKind::count});
  columns.push_back({"step", "Step", ColumnKind::count});
  columns.push_back({"total_ns", "Total", ColumnKind::duration});
  append_role_columns(columns, false);
  if (raw) append_role_columns(columns, true);
  columns.push_back({"counted", "Counted", ColumnKind::flag, Readers::few});
  return columns;
}

using Statistic = std::function<std::int64_t(const std::vector<std::int64_t>&)>;

// Computes each column by itself: no step is the median in all columns.
void add_statistic(Table& table, std::vector<Cell> cells, const RankRoles& rank, StepPhase phase,
                   const Statistic& statistic) {
  const auto value = [&](auto number_of) {
    std::vector<std::int64_t> values;
    values.reserve(rank.steps.size());
    for (const StepRoles& step : rank.steps)
      if (is_of_mean(step, phase)) values.push_back(number_of(step));
    return Cell{statistic(values)};
  };
  cells.push_back(value([](const StepRoles& step) { return step.total_ns; }));
  for (std::size_t i = 0; i < kRoleCount; ++i)
    cells.push_back(
        value([&](const StepRoles& step) { return step.exclusive[static_cast<Role>(i)]; }));
  table.add_row(std::move(cells));
}

Table summary_table(const std::vector<RankRoles>& ranks) {
  const bool kinds = has_kinds(ranks);
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count}};
  if (kinds) columns.push_back(kKindColumn);
  columns.push_back({"statistic", "Steps", ColumnKind::text});
  columns.push_back({"total_ns", "Total", ColumnKind::duration});
  append_role_columns(columns, false);
  Table table(columns);
  const auto at = [](std::size_t percent) {
    return
        [percent](const std::vector<std::int64_t>& values) { return percentile(values, percent); };
  };
  for_each_kind(ranks, [&](const RankRoles& rank, StepPhase phase) {
    const auto start = [&](const char* statistic) {
      std::vector<Cell> cells = row_start(rank, phase, kinds);
      cells.emplace_back(std::string(statistic));
      return cells;
    };
    const StepRoles mean = sum_of(rank, phase).mean();
    std::vector<Cell> cells = start("mean");
    cells.emplace_back(mean.total_ns);
    append_role_cells(cells, mean.exclusive);
    table.add_row(std::move(cells));
    add_statistic(table, start("p50"), rank, phase, at(50));
    add_statistic(table, start("p99"), rank, phase, at(99));
    add_statistic(table, start("max"), rank, phase, at(100));
  });
  return table;
}

Table share_table(const std::vector<RankRoles>& ranks) {
  const bool kinds = has_kinds(ranks);
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count}};
  if (kinds) columns.push_back(kKindColumn);
  for (std::size_t i = 0; i < kRoleCount; ++i)
    columns.push_back({std::string(role_name(static_cast<Role>(i))),
                       role_title(static_cast<Role>(i)), ColumnKind::share,
                       role_readers(static_cast<Role>(i))});
  Table table(columns);
  for_each_kind(ranks, [&](const RankRoles& rank, StepPhase phase) {
    const StepSum steps = sum_of(rank, phase);
    if (steps.sum().total_ns <= 0) return;
    const RoleShares shares = steps.shares();
    std::vector<Cell> cells = row_start(rank, phase, kinds);
    for (std::size_t i = 0; i < kRoleCount; ++i) cells.emplace_back(shares[static_cast<Role>(i)]);
    table.add_row(std::move(cells));
  });
  return table;
}

Table rows_table(const std::vector<RankRoles>& ranks, bool raw) {
  const bool epochs = std::any_of(ranks.begin(), ranks.end(), [](const RankRoles& rank) {
    return std::any_of(rank.steps.begin(), rank.steps.end(),
                       [](const StepRoles& step) { return step.step.epoch != kNoId; });
  });
  const bool kinds = has_kinds(ranks);
  Table table(step_columns(raw, epochs, kinds));
  for (const RankRoles& rank : ranks)
    for (const StepRoles& step : rank.steps) {
      std::vector<Cell> cells = row_start(rank, step.step.phase, kinds);
      if (epochs) cells.push_back(optional_number(step.step.epoch));
      cells.push_back(optional_number(step.step.number));
      cells.emplace_back(step.total_ns);
      append_role_cells(cells, step.exclusive);
      if (raw) append_role_cells(cells, step.raw);
      cells.emplace_back(step.step.counted);
      table.add_row(std::move(cells));
    }
  return table;
}

void append_mean(const Run& run, const std::vector<RankRoles>& ranks, const std::string& key,
                 Report& report) {
  const StepBasis all = mean_basis(run, ranks);
  if (all.owner.ranks > 1)
    report.tables.push_back({key, "Where " + all.owner.text() + " goes", roles_table(all.steps)});
}

// Appends the mean of all ranks, separately for each kind of steps.
void append_means(const Run& run, const std::vector<RankRoles>& ranks, Report& report) {
  if (!has_kinds(ranks)) return append_mean(run, ranks, "mean", report);
  for (const PhaseSteps& phase : find_phases(ranks)) {
    std::vector<RankRoles> kept = ranks;
    keep_phase(kept, phase.phase);
    append_mean(run, kept, fmt::format("mean_{}", to_string(phase.phase)), report);
  }
}

// Returns the ranks that the files name.
std::vector<std::int64_t> ranks_of(const Run& run) {
  std::set<std::int64_t> ranks;
  for (const RunFile& file : run.files) {
    ranks.insert(file.ranks.begin(), file.ranks.end());
    if (file.rank) ranks.insert(*file.rank);
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace

Table roles_table(const StepSum& steps) {
  Table table({{"role", "Role", ColumnKind::text},
               {"mean_ns", "Mean/step", ColumnKind::duration},
               {"share", "Share", ColumnKind::share}});
  if (steps.count() == 0) return table;
  const StepRoles means = steps.mean();
  const RoleShares shares = steps.shares();
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    table.add_row({std::string(kRoleNames[i]), means.exclusive[role], shares[role]});
  }
  return table;
}

void note_missing(const Run& run, Report& report) {
  if (run.ranks.empty())
    report.notes.push_back(fmt::format("no rank is left to look at: these traces are of {}",
                                       ranks_words(ranks_of(run), RankStyle::option)));
  const auto is_without = [](const RankEvents& rank) { return !rank.has_devices(); };
  const auto without =
      static_cast<std::size_t>(std::count_if(run.ranks.begin(), run.ranks.end(), is_without));
  if (without > 0 && without == run.ranks.size())
    note_no_devices(run, report, "host roles only");
  else if (without > 0)
    report.notes.push_back(fmt::format("no device activity in the traces of {} of {} ranks",
                                       without, run.ranks.size()));
  RankNotes notes;
  for (const RankEvents& rank : run.ranks) {
    const StepList& steps = rank.steps;
    if (steps.list.empty())
      notes.add(rank.rank, "no spans that could be a step");
    else if (steps.kind == StepKind::none)
      notes.add(rank.rank,
                "no steps are marked (ProfilerStep#N, event/batch): all of it is one step, "
                "number 0");
    if (steps.rest > 0)
      notes.add(rank.rank, fmt::format("iterations that are neither prefill nor decode (step[IDLE "
                                       "...], no requests): {}; they count in no mean",
                                       steps.rest));
    if (steps.open_end)
      notes.add(rank.rank, "the last step is not counted: nothing shows when it ended");
    if (steps.dropped > 0)
      notes.add(rank.rank, fmt::format("{} of {} steps are not counted: the profiler lost device "
                                       "work of the last ones",
                                       steps.dropped, steps.list.size()));
  }
  notes.append_to(report);
}

Report steps_report(const Run& run, const StepsOptions& options) {
  const std::vector<RankRoles> ranks = find_all_roles(run);
  Report report("steps", run);
  report.tables.push_back({"rows", "", rows_table(ranks, options.raw)});
  report.tables.push_back({"summary", "Over all steps", summary_table(ranks)});
  report.tables.push_back({"shares", "Shares of each rank's mean step", share_table(ranks)});
  append_means(run, ranks, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
