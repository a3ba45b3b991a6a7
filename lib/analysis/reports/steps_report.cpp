#include "analysis/devices/device_work.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "analysis/waits/rank_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace traceloom {
namespace {

// The columns with which rows of steps begin: the rank and, if there are several, the kind.
template <typename Row>
ColumnsOf<Row> first_columns(bool kinds) {
  using enum ColumnKind;
  return {
      {"rank", "Rank", count, [](auto& of) { return of.rank; }},
      {"kind", "Kind", text, kinds,
       [](auto& of) { return cell_if(of.phase != StepPhase::none, to_string(of.phase)); }},
  };
}

bool any_step(const std::vector<RankRoles>& ranks, bool (*is_so)(const Step&)) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankRoles& rank) {
    return std::any_of(rank.steps.begin(), rank.steps.end(),
                       [&](const StepRoles& step) { return is_so(step.step); });
  });
}

bool has_kinds(const std::vector<RankRoles>& ranks) {
  return any_step(ranks, [](const Step& step) { return step.phase != StepPhase::none; });
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

struct StepRow {
  std::int64_t rank = 0;
  StepPhase phase = StepPhase::none;
  const StepRoles& roles;
};

ColumnsOf<StepRow> step_columns(bool raw, bool epochs, bool kinds) {
  using enum ColumnKind;
  using enum Readers;
  using Row = StepRow;
  const auto known = [](std::int64_t number) { return cell_if(number != kNoId, number); };
  ColumnsOf<Row> columns = first_columns<Row>(kinds);
  columns.push_back(
      {"epoch", "Epoch", count, epochs, [=](auto& of) { return known(of.roles.step.epoch); }});
  columns.push_back({"step", "Step", count, [=](auto& of) { return known(of.roles.step.number); }});
  columns.push_back({"total_ns", "Total", duration, [](auto& of) { return of.roles.total_ns; }});
  append_roles(columns, "{}_ns", duration,
               [](const Row& of, Role role) { return of.roles.exclusive[role]; });
  for (const Role role : kRoles)
    columns.push_back({fmt::format("raw_{}_ns", role_name(role)), "Raw " + role_title(role),
                       duration, few, raw, [role](auto& of) { return of.roles.raw[role]; }});
  columns.push_back(
      {"counted", "Counted", flag, few, [](auto& of) { return of.roles.step.counted; }});
  return columns;
}

// A number of a rank's steps of one kind, for each role.
struct StatisticRow : StepRoles {
  std::int64_t rank = 0;
  StepPhase phase = StepPhase::none;
  std::string_view statistic;
};

// Computes each column by itself: no step is the median in all columns.
StatisticRow at_percent(const RankRoles& rank, StepPhase phase, std::string_view statistic,
                        std::size_t percent) {
  const auto value = [&](auto number_of) {
    std::vector<std::int64_t> values;
    values.reserve(rank.steps.size());
    for (const StepRoles& step : rank.steps)
      if (is_of_mean(step, phase)) values.push_back(number_of(step));
    return percentile(values, percent);
  };
  StatisticRow row{{}, rank.rank, phase, statistic};
  row.total_ns = value([](const StepRoles& step) { return step.total_ns; });
  for (const Role role : kRoles)
    row.exclusive[role] = value([&](const StepRoles& step) { return step.exclusive[role]; });
  return row;
}

Table summary_table(const std::vector<RankRoles>& ranks) {
  using enum ColumnKind;
  using Row = StatisticRow;
  std::vector<Row> rows;
  for_each_kind(ranks, [&](const RankRoles& rank, StepPhase phase) {
    rows.push_back({sum_of(rank, phase).mean(), rank.rank, phase, "mean"});
    rows.push_back(at_percent(rank, phase, "p50", 50));
    rows.push_back(at_percent(rank, phase, "p99", 99));
    rows.push_back(at_percent(rank, phase, "max", 100));
  });
  ColumnsOf<Row> columns = first_columns<Row>(has_kinds(ranks));
  columns.push_back({"statistic", "Steps", text, &Row::statistic});
  columns.push_back({"total_ns", "Total", duration, &Row::total_ns});
  append_roles(columns, "{}_ns", duration,
               [](const Row& of, Role role) { return of.exclusive[role]; });
  return make_table(rows, columns);
}

Table share_table(const std::vector<RankRoles>& ranks) {
  struct Row {
    std::int64_t rank;
    StepPhase phase;
    RoleShares shares;
  };
  std::vector<Row> rows;
  for_each_kind(ranks, [&](const RankRoles& rank, StepPhase phase) {
    const StepSum steps = sum_of(rank, phase);
    if (steps.sum().total_ns > 0) rows.push_back({rank.rank, phase, steps.shares()});
  });
  ColumnsOf<Row> columns = first_columns<Row>(has_kinds(ranks));
  append_roles(columns, "{}", ColumnKind::share,
               [](const Row& of, Role role) { return of.shares[role]; });
  return make_table(rows, columns);
}

// Chooses the longest steps; of equals, the first ones.
class LongestSteps {
 public:
  LongestSteps(const std::vector<RankRoles>& ranks, std::size_t most) {
    std::vector<std::int64_t> lengths;
    for (const RankRoles& rank : ranks)
      for (const StepRoles& step : rank.steps) lengths.push_back(step.total_ns);
    if (lengths.size() <= most) return;
    const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(most - 1);
    std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
    least_ns_ = *last;
    equals_left_ = static_cast<std::size_t>(std::count(lengths.begin(), last + 1, least_ns_));
  }

  bool take(const StepRoles& step) {
    if (step.total_ns != least_ns_) return step.total_ns > least_ns_;
    if (equals_left_ == 0) return false;
    --equals_left_;
    return true;
  }

 private:
  std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::min();
  std::size_t equals_left_ = 0;
};

Table rows_table(const std::vector<RankRoles>& ranks, const StepsOptions& options) {
  const bool epochs = any_step(ranks, [](const Step& step) { return step.epoch != kNoId; });
  const ColumnsOf<StepRow> columns = step_columns(options.raw, epochs, has_kinds(ranks));
  Table table = empty_table(columns);
  LongestSteps longest(ranks, options.most_rows);
  for (const RankRoles& rank : ranks)
    for (const StepRoles& step : rank.steps)
      if (longest.take(step)) add_row(table, columns, {rank.rank, step.step.phase, step});
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

}  // namespace

Table roles_table(const StepSum& steps) {
  using enum ColumnKind;
  using Row = Role;
  const ColumnsOf<Row> columns{
      {"role", "Role", text, [](Row role) { return role_name(role); }},
      {"mean_ns", "Mean/step", duration, [&](Row role) { return steps.mean().exclusive[role]; }},
      {"share", "Share", share, [&](Row role) { return steps.shares()[role]; }},
  };
  Table table = empty_table(columns);
  for (const Role role : kRoles)
    if (steps.count() > 0) add_row(table, columns, role);
  return table;
}

void note_missing(const Run& run, Report& report) {
  if (run.ranks.empty())
    report.notes.push_back(fmt::format("no rank is left to look at: these traces are of {}",
                                       ranks_words(run.ranks_of_files(), RankStyle::option)));
  const auto is_without = [](const RankEvents& rank) { return !rank.has_devices(); };
  const auto without = static_cast<std::size_t>(std::ranges::count_if(run.ranks, is_without));
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
    for (const auto& [count, why] :
         {std::pair{steps.dropped, "the last ones have no device work, or less than those before"},
          std::pair{steps.lost, "the profiler lost device work that they launched"},
          std::pair{steps.instant, "they take no time"},
          std::pair{steps.startup, "start-up, over twice the median of the others"}})
      if (count > 0)
        notes.add(rank.rank,
                  fmt::format("{} of {} steps are not counted: {}", count, steps.list.size(), why));
  }
  notes.append_to(report);
}

Report steps_report(const Run& run, const StepsOptions& options) {
  const std::vector<RankRoles> ranks = find_all_roles(run);
  Report report("steps", run);
  report.tables.push_back({"rows", "", rows_table(ranks, options)});
  if (report.tables.back().table.rows().size() == options.most_rows)
    report.notes.push_back(
        fmt::format("only the longest {} steps have a row", format_count(options.most_rows)));
  report.tables.push_back({"summary", "Over all steps", summary_table(ranks)});
  report.tables.push_back({"shares", "Shares of each rank's mean step", share_table(ranks)});
  append_means(run, ranks, report);
  note_missing(run, report);
  note_longest(longest_steps(ranks), report);
  return report;
}

}  // namespace traceloom
