// What the page of a comparison says of both sides together.
#include "base/arithmetic.h"
#include "page/html/figures.h"
#include "page/page.h"
#include "page/sections.h"
#include "page/step_grid.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

using CellRow = std::vector<Cell>;

// The place of a column on both sides.
struct Place {
  std::size_t base;
  std::size_t changed;
};

std::vector<Place> places_of(const Table& base, const Table& changed,
                             const std::vector<std::string_view>& keys) {
  std::vector<Place> places;
  for (const std::string_view key : keys) {
    const std::optional<std::size_t> some = base.find_column(key);
    const std::optional<std::size_t> other = changed.find_column(key);
    if (some && other) places.push_back({*some, *other});
  }
  return places;
}

Cell delta_of(const Cell& base, const Cell& changed) {
  if (const auto* const from = std::get_if<std::int64_t>(&base))
    if (const auto* const to = std::get_if<std::int64_t>(&changed)) return *to - *from;
  if (const auto* const from = std::get_if<double>(&base))
    if (const auto* const to = std::get_if<double>(&changed)) return *to - *from;
  return {};
}

std::vector<Column> columns_of(const Table& base, const std::vector<Place>& keys,
                               const std::vector<Place>& values) {
  std::vector<Column> columns;
  for (const Place& key : keys) {
    columns.push_back(base.columns()[key.base]);
    columns.back().readers = Readers::all;
  }
  for (const Place& value : values) {
    const Column& column = base.columns()[value.base];
    columns.push_back({"base_" + column.key, column.title + ", base", column.kind});
    columns.push_back({"new_" + column.key, column.title + ", new", column.kind});
    columns.push_back({"delta_" + column.key, "Delta", column.kind});
  }
  return columns;
}

// Either side may be missing.
CellRow joined(const CellRow* base, const CellRow* changed, const std::vector<Place>& keys,
               const std::vector<Place>& values) {
  CellRow row;
  for (const Place& key : keys)
    row.push_back(base != nullptr ? (*base)[key.base] : (*changed)[key.changed]);
  for (const Place& value : values) {
    const Cell from = base != nullptr ? (*base)[value.base] : Cell();
    const Cell to = changed != nullptr ? (*changed)[value.changed] : Cell();
    row.push_back(from);
    row.push_back(to);
    row.push_back(delta_of(from, to));
  }
  return row;
}

std::string key_of(const CellRow& row, const std::vector<Place>& keys, std::size_t Place::*side) {
  std::string text;
  for (const Place& key : keys) (text += cell_for_programs(row[key.*side])) += '\n';
  return text;
}

double size_of(const Cell& cell) {
  if (const auto* const number = std::get_if<std::int64_t>(&cell))
    return std::abs(static_cast<double>(*number));
  const auto* const number = std::get_if<double>(&cell);
  return number == nullptr ? 0 : std::abs(*number);
}

}  // namespace

Table delta_table(const Table& base, const Table& changed, const DeltaColumns& columns) {
  const std::vector<Place> keys = places_of(base, changed, columns.keys);
  const std::vector<Place> values = places_of(base, changed, columns.values);
  Table table(columns_of(base, keys, values));
  if (values.empty()) return table;
  std::map<std::string, std::vector<std::size_t>> others;  // the last one first
  for (std::size_t i = changed.rows().size(); i-- > 0;)
    others[key_of(changed.rows()[i], keys, &Place::changed)].push_back(i);
  std::vector<bool> is_joined(changed.rows().size());
  for (const CellRow& row : base.rows()) {
    const CellRow* other = nullptr;
    if (const auto found = others.find(key_of(row, keys, &Place::base));
        found != others.end() && !found->second.empty()) {
      is_joined[found->second.back()] = true;
      other = &changed.rows()[found->second.back()];
      found->second.pop_back();
    }
    if (other != nullptr || !columns.of_both) table.add_row(joined(&row, other, keys, values));
  }
  for (std::size_t i = 0; i < changed.rows().size(); ++i)
    if (!is_joined[i] && !columns.of_both)
      table.add_row(joined(nullptr, &changed.rows()[i], keys, values));
  return table;
}

void put_largest_first(Table& table, std::size_t most) {
  const auto found = std::ranges::find_if(
      table.columns(), [](const Column& column) { return column.key.starts_with("delta_"); });
  if (table.rows().size() <= most || found == table.columns().end()) return;
  std::vector<CellRow> rows = table.rows();
  std::ranges::stable_sort(rows, std::greater(), [&](const CellRow& row) {
    return size_of(row[static_cast<std::size_t>(found - table.columns().begin())]);
  });
  Table sorted(table.columns());
  for (CellRow& row : rows) sorted.add_row(std::move(row));
  table = std::move(sorted);
}

namespace {

// Writes a table of the comparison, or one made of what the commands of both sides print: `source`
// begins with the command.
void write_delta_table(HtmlWriter& html, const ComparisonPage& page, const Table& table,
                       const std::string& source, const std::string& caption) {
  const std::string command = source.substr(0, source.find('.'));
  const bool is_of_comparison = command == "compare" || command == "page";
  write_table(html, table,
              {.caption = caption,
               .command = is_of_comparison
                              ? page.source.command("compare")
                              : page.base.command(command) + "; " + page.changed.command(command),
               .source = source,
               .most_rows = kMostTableRows});
}

// Writes a table of the report, with its title if `caption` is empty.
void write_compared(HtmlWriter& html, const ComparisonPage& page, std::string_view key,
                    const std::string& caption = {}) {
  for (const ReportTable& part : page.report.tables)
    if (part.key == key)
      write_delta_table(html, page, part.table, "compare." + part.key,
                        caption.empty() ? part.title : caption);
}

std::string shown_rank(const ComparisonPage& page) {
  return fmt::format("rank {}'s mean step", page.found.shown_rank()->rank);
}

// The rows with all their time, also where other work hides it, and with its share of the step.
// Largest deltas first. Sums over an operator have no role. A page leaves out columns without any
// value, such as modules that nobody recorded.
Table work_table(const RankDelta& step, std::vector<RowDelta> rows, bool by_operator) {
  std::ranges::stable_sort(rows, std::greater(),
                           [](const RowDelta& row) { return std::abs(row.total_delta_ns()); });
  using enum ColumnKind;
  using Row = RowDelta;
  const auto name_of = [](const Row& of) {
    const std::string name = both_texts(of.base.name, of.changed.name);
    return name.empty() ? "(no name)" : name;
  };
  return make_table(
      rows,
      ColumnsOf<Row>{
          {"delta_total_ns", "Delta", duration, &Row::total_delta_ns},
          {"base_total_ns", "Base", duration, path(&Row::base, &RowSums::total_ns)},
          {"new_total_ns", "New", duration, path(&Row::changed, &RowSums::total_ns)},
          {"base_share", "Base % step", share,
           [&](auto& of) { return share_cell(of.base.total_ns, step.base_ns); }},
          {"new_share", "New % step", share,
           [&](auto& of) { return share_cell(of.changed.total_ns, step.changed_ns); }},
          {"base_calls", "Base calls", number, path(&Row::base, &RowSums::calls)},
          {"new_calls", "New calls", number, path(&Row::changed, &RowSums::calls)},
          {"what", "What", text, text_of(&Row::what)},
          {"role", "Role", text, !by_operator, [](auto& of) { return role_name(of.role); }},
          {"module", "Module", text, text_of(&Row::modules)},
          {by_operator ? "operator" : "work", by_operator ? "Operator" : "Work", text, name_of},
      });
}

// Writes the rows of devices, or of communication alone.
void write_rows_of(HtmlWriter& html, const ComparisonPage& page, bool (*is_wanted)(Role),
                   std::string_view noun) {
  std::vector<RowDelta> rows;
  for (const RowDelta& row : page.found.rows)
    if (is_wanted(row.role)) rows.push_back(row);
  if (rows.empty()) return;
  write_delta_table(
      html, page, work_table(*page.found.shown_rank(), std::move(rows), false), "compare.rows",
      fmt::format("{} in {}, also where other work hides it", noun, shown_rank(page)));
}

// Writes the rows by operator: by its work on devices, or by its own time if there is none.
void write_operators(HtmlWriter& html, const ComparisonPage& page) {
  const std::vector<RowDelta>& all = page.found.rows;
  const bool has_devices = std::any_of(all.begin(), all.end(), [](const RowDelta& row) {
    return is_device_role(row.role) && !(row.base.op.empty() && row.changed.op.empty());
  });
  std::map<std::string, RowDelta> operators;
  for (const RowDelta& row : all) {
    if (has_devices ? !is_device_role(row.role) : row.role != Role::cpu) continue;
    const std::string name = has_devices ? both_texts(row.base.op, row.changed.op)
                                         : both_texts(row.base.name, row.changed.name);
    if (name.empty()) continue;
    RowDelta& sum = operators[name];
    sum.base.name = sum.changed.name = name;
    for (RowSums RowDelta::*const side : {&RowDelta::base, &RowDelta::changed}) {
      add_to((sum.*side).total_ns, (row.*side).total_ns);
      (sum.*side).calls += (row.*side).calls;
    }
  }
  if (operators.empty()) return;
  std::vector<RowDelta> rows;
  rows.reserve(operators.size());
  for (auto& [name, sum] : operators) rows.push_back(std::move(sum));
  write_delta_table(html, page, work_table(*page.found.shown_rank(), std::move(rows), true),
                    "page.operators",
                    fmt::format("Operators in {}, by {}", shown_rank(page),
                                has_devices ? "the work that they launched on devices"
                                            : "their time on the host"));
}

// The times of both sides on all ranks.
RoleTimes role_sums(const std::vector<RankDelta>& ranks) {
  RoleTimes sums;
  for (const RankDelta& rank : ranks) {
    sums.add(rank.base_roles);
    sums.add(rank.changed_roles);
  }
  return sums;
}

// Writes of each rank how much each role of its mean step changed.
void write_rank_roles(HtmlWriter& html, const ComparisonPage& page) {
  const RoleTimes sums = role_sums(page.found.ranks);
  using enum ColumnKind;
  using Row = RankDelta;
  ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"base_ns", "Base", duration, &Row::base_ns},
      {"new_ns", "New", duration, &Row::changed_ns},
      {"delta_ns", "Delta", duration, &Row::delta_ns},
  };
  for (const Role role : kRoles)
    columns.push_back({fmt::format("delta_{}_ns", role_name(role)),
                       fmt::format("{} delta", role_name(role)), duration, sums[role] > 0,
                       [role](auto& of) { return of.role_delta_ns(role); }});
  Table table = make_table(page.found.ranks, columns);
  put_largest_first(table, kMostTableRows);
  write_delta_table(html, page, table, "page.rank_roles",
                    "How much each role of the mean step changed, by rank");
}

// The lengths of the steps that count.
Table step_lengths(const std::vector<RankRoles>& roles) {
  struct Row {
    std::int64_t rank;
    StepKey step;
    std::int64_t total_ns;
  };
  using enum ColumnKind;
  const auto known = [](std::int64_t number) { return cell_if(number != kNoId, number); };
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"run", "Run", count, [](auto& of) { return cell_if(of.step.run > 0, of.step.run + 1); }},
      {"epoch", "Epoch", count, [=](auto& of) { return known(of.step.epoch); }},
      {"step", "Step", count, [=](auto& of) { return known(of.step.number); }},
      {"total_ns", "Total", duration, &Row::total_ns},
  };
  Table table = empty_table(columns);
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) add_row(table, columns, {rank.rank, key_of(step.step), step.total_ns});
  return table;
}

// Writes the heat map of the deltas, and the steps that changed most as a table. Without ranks and
// steps that both sides have, it says so.
void write_delta_map(HtmlWriter& html, const ComparisonPage& page) {
  if (page.base.sections.empty() || page.changed.sections.empty()) return;
  html.element("h3", "How much longer each step is, by rank");
  html.element("p", fmt::format("{} against {}", page.changed.name, page.base.name),
               {{"class", "command"}});
  const auto [base, changed] = make_common_grids(page.base.roles, page.changed.roles,
                                                 page.changed.shown_steps, kMostSideCells);
  if (base.cells.empty()) {
    html.element("p", "The two captures have no rank and step in common.");
    return;
  }
  write_delta_grid(html, base, changed);
  Table steps = delta_table(
      step_lengths(page.base.roles), step_lengths(page.changed.roles),
      {.keys = {"rank", "run", "epoch", "step"}, .values = {"total_ns"}, .of_both = true});
  put_largest_first(steps, 0);
  write_delta_table(html, page, steps, "steps.rows",
                    "The steps that changed most: base, new and delta");
}

// Writes two bars a rank: the ranks that changed most, if there are many.
void write_rank_bars(HtmlWriter& html, const ComparisonPage& page) {
  std::vector<RankDelta> ranks = page.found.ranks;
  if (ranks.empty()) return;
  const bool is_cut = keep_largest(ranks, kMostBars / 2,
                                   [](const RankDelta& rank) { return std::abs(rank.delta_ns()); });
  html.element("h3", is_cut ? fmt::format("The mean step on both sides, of the {} ranks of {} that "
                                          "changed most",
                                          ranks.size(), page.found.ranks.size())
                            : "The mean step on both sides, by rank");
  write_command(html, page.source, "compare");
  std::int64_t room_ns = 1;
  for (const RankDelta& rank : ranks) room_ns = std::max({room_ns, rank.base_ns, rank.changed_ns});
  std::vector<Bar> bars;
  for (const RankDelta& rank : ranks) {
    bars.push_back(
        role_bar(fmt::format("rank {} base", rank.rank), rank.base_roles, rank.base_ns, room_ns));
    bars.push_back(role_bar(fmt::format("rank {} new", rank.rank), rank.changed_roles,
                            rank.changed_ns, room_ns));
  }
  write_legend(html, role_names(role_sums(ranks)));
  write_stacked_bars(html, "The mean step of each rank, on both sides", bars);
}

// Writes the tables of the section that both sides have.
void write_joined(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  const auto add = [&](std::string_view of, const std::string& source, const std::string& caption,
                       const DeltaColumns& columns) {
    const auto base = page.base.tables.find(source);
    const auto changed = page.changed.tables.find(source);
    if (of != section || base == page.base.tables.end() || changed == page.changed.tables.end())
      return;
    Table table = delta_table(base->second, changed->second, columns);
    put_largest_first(table, kMostTableRows);
    write_delta_table(html, page, table, source, caption + ": base, new and delta");
  };
  add("time", "steps.summary", "Steps of each rank", {{"rank", "kind", "statistic"}, {"total_ns"}});
  add("comm", "comm.rows", "Collectives by kind",
      {{"collective", "dtype", "bytes", "group_description"},
       {"latency_ns", "wait_ns", "bus_gbps", "count"}});
  add("comm", "stragglers.rows", "Who comes late, by rank",
      {{"rank"}, {"delay_ns_per_step", "wait_ns_per_step"}});
  add("devices", "gpu.rows", "What each device does",
      {{"rank", "device"}, {"compute_share", "idle_share", "overlap_share", "utilization"}});
  add("devices", "gpu.types", "Device time by type of work", {{"type"}, {"share"}});
  add("memory", "memory.rows", "Memory by device",
      {{"rank", "device"}, {"peak_bytes", "reserved_peak_bytes"}});
  add("memory", "memory.host", "Counters of memory",
      {{"rank", "counter", "process", "unit"}, {"most", "end"}});
  add("memory", "host.rows", "Counters of the machine",
      {{"counter", "process", "unit", "kind"}, {"mean", "most"}});
}

}  // namespace

void write_deltas(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  if (section == "overview") {
    write_delta_map(html, page);
  } else if (section == "time") {
    write_rank_bars(html, page);
    write_rank_roles(html, page);
    write_compared(html, page, "ranks", "How much the mean step changed, by rank");
    if (page.found.shown)
      write_compared(html, page, "roles",
                     fmt::format("Rank {}'s mean step by role", page.found.shown_rank()->rank));
  } else if (section == "comm") {
    write_rows_of(
        html, page, [](Role role) { return role == Role::communication; }, "Communication");
  } else if (section == "work") {
    write_compared(html, page, "rows");
    write_compared(html, page, "structure");
    write_rows_of(html, page, is_device_role, "Kernels, copies and communication");
    write_operators(html, page);
  }
  write_joined(html, page, section);
}

}  // namespace traceloom
