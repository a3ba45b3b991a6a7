#include "page/deltas.h"

#include "base/arithmetic.h"
#include "base/units.h"
#include "page/html/figures.h"
#include "page/sections.h"
#include "page/step_grid.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
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
    table.add_row(joined(&row, other, keys, values));
  }
  for (std::size_t i = 0; i < changed.rows().size(); ++i)
    if (!is_joined[i]) table.add_row(joined(nullptr, &changed.rows()[i], keys, values));
  return table;
}

void put_largest_first(Table& table, std::size_t most) {
  if (table.rows().size() <= most) return;
  std::size_t column = 0;
  while (column < table.columns().size() && !table.columns()[column].key.starts_with("delta_"))
    ++column;
  if (column == table.columns().size()) return;
  std::vector<CellRow> rows = table.rows();
  std::stable_sort(rows.begin(), rows.end(), [&](const CellRow& a, const CellRow& b) {
    return size_of(a[column]) > size_of(b[column]);
  });
  Table sorted(table.columns());
  for (CellRow& row : rows) sorted.add_row(std::move(row));
  table = std::move(sorted);
}

namespace {

std::string compare_command(const ComparisonPage& page) {
  return source_without_run(page.arguments).command("compare");
}

const RankDelta& shown_delta(const ComparisonPage& page) {
  return page.found.ranks[*page.found.shown];
}

std::string shown_rank(const ComparisonPage& page) {
  return fmt::format("rank {}'s mean step", shown_delta(page).rank);
}

// The time of some work on both sides.
struct BothTimes {
  std::int64_t base_ns = 0;
  std::int64_t changed_ns = 0;
  double base_calls = 0;
  double changed_calls = 0;

  std::int64_t delta_ns() const { return changed_ns - base_ns; }
  void add(const BothTimes& other) {
    add_to(base_ns, other.base_ns);
    add_to(changed_ns, other.changed_ns);
    base_calls += other.base_calls;
    changed_calls += other.changed_calls;
  }
};

struct NamedTimes {
  std::string name;
  std::string what;
  std::string role;
  BothTimes times;
  std::string module = {};
};

// Largest deltas first. `key` and `title` are of the column with the names. A page leaves out
// columns without any value, such as modules that nobody recorded.
Table table_of(const RankDelta& step, std::vector<NamedTimes> rows, const std::string& key,
               const std::string& title) {
  std::stable_sort(rows.begin(), rows.end(), [](const NamedTimes& a, const NamedTimes& b) {
    return std::abs(a.times.delta_ns()) > std::abs(b.times.delta_ns());
  });
  using enum ColumnKind;
  using Row = NamedTimes;
  const ColumnsOf<Row> columns{
      {"delta_total_ns", "Delta", duration, [](auto& of) { return of.times.delta_ns(); }},
      {"base_total_ns", "Base", duration, [](auto& of) { return of.times.base_ns; }},
      {"new_total_ns", "New", duration, [](auto& of) { return of.times.changed_ns; }},
      {"base_share", "Base % step", share,
       [&](auto& of) { return share_cell(of.times.base_ns, step.base_ns); }},
      {"new_share", "New % step", share,
       [&](auto& of) { return share_cell(of.times.changed_ns, step.changed_ns); }},
      {"base_calls", "Base calls", number, [](auto& of) { return of.times.base_calls; }},
      {"new_calls", "New calls", number, [](auto& of) { return of.times.changed_calls; }},
      {"what", "What", text, text_of(&Row::what)},
      {"role", "Role", text, text_of(&Row::role)},
      {"module", "Module", text, text_of(&Row::module)},
      {key, title, text, [](auto& of) { return of.name.empty() ? "(no name)" : of.name; }},
  };
  return make_table(rows, columns);
}

BothTimes total_times(const RowDelta& row) {
  return {row.base.total_ns, row.changed.total_ns, row.base.calls, row.changed.calls};
}

}  // namespace

void write_compared(HtmlWriter& html, const ComparisonPage& page, std::string_view key,
                    const std::string& caption) {
  for (const ReportTable& part : page.report.tables)
    if (part.key == key)
      write_table(html, part.table,
                  {.caption = caption.empty() ? part.title : caption,
                   .command = compare_command(page),
                   .source = "compare." + part.key,
                   .most_rows = kMostTableRows});
}

void write_rows_of(HtmlWriter& html, const ComparisonPage& page, RowsOf what) {
  std::vector<NamedTimes> rows;
  for (const RowDelta& row : page.found.rows) {
    const bool is_wanted =
        what == RowsOf::communication ? row.role == Role::communication : is_device_role(row.role);
    if (!is_wanted) continue;
    rows.push_back({both_texts(row.base.name, row.changed.name), row.what,
                    std::string(role_name(row.role)), total_times(row), row.modules()});
  }
  if (rows.empty()) return;
  const std::string_view noun =
      what == RowsOf::communication ? "Communication" : "Kernels, copies and communication";
  write_table(
      html, table_of(shown_delta(page), std::move(rows), "work", "Work"),
      {.caption = fmt::format("{} in {}, also where other work hides it", noun, shown_rank(page)),
       .command = compare_command(page),
       .source = "compare.rows",
       .most_rows = kMostTableRows});
}

void write_operators(HtmlWriter& html, const ComparisonPage& page) {
  const std::vector<RowDelta>& all = page.found.rows;
  const bool has_devices = std::any_of(all.begin(), all.end(), [](const RowDelta& row) {
    return is_device_role(row.role) && !(row.base.op.empty() && row.changed.op.empty());
  });
  std::map<std::string, NamedTimes> operators;
  for (const RowDelta& row : all) {
    if (has_devices ? !is_device_role(row.role) : row.role != Role::cpu) continue;
    const std::string name = has_devices ? both_texts(row.base.op, row.changed.op)
                                         : both_texts(row.base.name, row.changed.name);
    if (name.empty()) continue;
    NamedTimes& one = operators[name];
    one.name = name;
    one.times.add(total_times(row));
  }
  if (operators.empty()) return;
  std::vector<NamedTimes> rows;
  rows.reserve(operators.size());
  for (auto& [name, one] : operators) rows.push_back(std::move(one));
  write_table(html, table_of(shown_delta(page), std::move(rows), "operator", "Operator"),
              {.caption = fmt::format("Operators in {}, by {}", shown_rank(page),
                                      has_devices ? "the work that they launched on devices"
                                                  : "their time on the host"),
               .command = compare_command(page),
               .source = "page.operators",
               .most_rows = kMostTableRows});
}

std::vector<Role> roles_with_time(const std::vector<RankDelta>& ranks) {
  std::vector<Role> roles;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    if (std::any_of(ranks.begin(), ranks.end(), [&](const RankDelta& rank) {
          return rank.base_roles[role] != 0 || rank.changed_roles[role] != 0;
        }))
      roles.push_back(role);
  }
  return roles;
}

void write_rank_roles(HtmlWriter& html, const ComparisonPage& page) {
  const std::vector<Role> roles = roles_with_time(page.found.ranks);
  using enum ColumnKind;
  using Row = RankDelta;
  ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"base_ns", "Base", duration, &Row::base_ns},
      {"new_ns", "New", duration, &Row::changed_ns},
      {"delta_ns", "Delta", duration, &Row::delta_ns},
  };
  for (const Role role : roles)
    columns.push_back({fmt::format("delta_{}_ns", role_name(role)),
                       fmt::format("{} delta", role_name(role)), duration,
                       [role](auto& of) { return of.changed_roles[role] - of.base_roles[role]; }});
  Table table = make_table(page.found.ranks, columns);
  put_largest_first(table, kMostTableRows);
  write_table(html, table,
              {.caption = "How much each role of the mean step changed, by rank",
               .command = compare_command(page),
               .source = "page.rank_roles",
               .most_rows = kMostTableRows});
}

namespace {

struct StepDelta {
  std::int64_t rank = 0;
  StepKey step;
  std::int64_t base_ns = 0;
  std::int64_t changed_ns = 0;

  std::int64_t delta_ns() const { return changed_ns - base_ns; }
  std::int64_t size_ns() const { return std::abs(delta_ns()); }
};

// The steps that both sides have, those that changed most first.
std::vector<StepDelta> find_step_deltas(const std::vector<RankRoles>& base,
                                        const std::vector<RankRoles>& changed) {
  std::vector<StepDelta> deltas;
  for (const RankRoles& rank : base) {
    const auto other = std::find_if(changed.begin(), changed.end(),
                                    [&](const RankRoles& one) { return one.rank == rank.rank; });
    if (other == changed.end()) continue;
    std::map<StepKey, std::int64_t> lengths;
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) lengths.emplace(key_of(step.step), step.total_ns);
    for (const StepRoles& step : other->steps)
      if (const auto found = lengths.find(key_of(step.step));
          step.step.counted && found != lengths.end())
        deltas.push_back({rank.rank, found->first, found->second, step.total_ns});
  }
  std::stable_sort(deltas.begin(), deltas.end(), [](const StepDelta& a, const StepDelta& b) {
    return a.size_ns() > b.size_ns();
  });
  return deltas;
}

Table table_of(const std::vector<StepDelta>& deltas) {
  const bool has_epochs = std::any_of(deltas.begin(), deltas.end(), [](const StepDelta& delta) {
    return delta.step.epoch != kNoId;
  });
  using enum ColumnKind;
  using Row = StepDelta;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"epoch", "Epoch", count, has_epochs, [](auto& of) { return of.step.epoch; }},
      {"step", "Step", count, [](auto& of) { return of.step.number; }},
      {"base_total_ns", "Base", duration, &Row::base_ns},
      {"new_total_ns", "New", duration, &Row::changed_ns},
      {"delta_total_ns", "Delta", duration, &Row::delta_ns},
  };
  return make_table(deltas, columns);
}

// The mean step of one side, split into roles.
Bar bar_of(const RoleTimes& roles, std::string label, std::int64_t room_ns) {
  Bar bar{std::move(label), {}, {}};
  std::int64_t total_ns = 0;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const std::int64_t ns = roles[static_cast<Role>(i)];
    if (ns <= 0) continue;
    total_ns += ns;
    bar.parts.push_back(time_part(kRoleNames[i], kRoleNames[i], ns, room_ns));
  }
  bar.total = format_duration(total_ns);
  return bar;
}

}  // namespace

void write_delta_map(HtmlWriter& html, const ComparisonPage& page) {
  if (page.base.sections.empty() || page.changed.sections.empty()) return;
  html.element("h3", "How much longer each step is, by rank");
  html.element("p", fmt::format("{} against {}", page.changed.name, page.base.name),
               {{"class", "command"}});
  const auto [base, changed] =
      make_common_grids(page.base.roles, page.changed.roles, kMostSideCells);
  if (base.cells.empty()) {
    html.element("p", "The two captures have no rank and step in common.");
    return;
  }
  write_delta_grid(html, base, changed);
  const std::vector<StepDelta> deltas = find_step_deltas(page.base.roles, page.changed.roles);
  write_table(html, table_of(deltas),
              {.caption = "The steps that changed most: base, new and delta",
               .command = source_of(page.base).command("steps") + "; " +
                          source_of(page.changed).command("steps"),
               .source = "steps.rows",
               .most_rows = kMostTableRows});
}

void write_rank_bars(HtmlWriter& html, const ComparisonPage& page) {
  std::vector<RankDelta> ranks = page.found.ranks;
  if (ranks.empty()) return;
  constexpr std::size_t kMost = kMostBars / 2;
  html.element("h3", ranks.size() > kMost
                         ? fmt::format("The mean step on both sides, of the {} ranks of {} that "
                                       "changed most",
                                       kMost, ranks.size())
                         : "The mean step on both sides, by rank");
  write_command(html, source_without_run(page.arguments), "compare");
  if (ranks.size() > kMost) {
    std::stable_sort(ranks.begin(), ranks.end(), [](const RankDelta& a, const RankDelta& b) {
      return std::abs(a.delta_ns()) > std::abs(b.delta_ns());
    });
    ranks.resize(kMost);
  }
  std::int64_t room_ns = 1;
  for (const RankDelta& rank : ranks) room_ns = std::max({room_ns, rank.base_ns, rank.changed_ns});
  std::vector<Bar> bars;
  for (const RankDelta& rank : ranks) {
    bars.push_back(bar_of(rank.base_roles, fmt::format("rank {} base", rank.rank), room_ns));
    bars.push_back(bar_of(rank.changed_roles, fmt::format("rank {} new", rank.rank), room_ns));
  }
  std::vector<std::string_view> names;
  for (const Role role : roles_with_time(ranks)) names.push_back(role_name(role));
  write_legend(html, names);
  write_stacked_bars(html, "The mean step of each rank, on both sides", bars);
}

}  // namespace traceloom
