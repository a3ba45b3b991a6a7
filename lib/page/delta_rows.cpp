#include "page/delta_rows.h"

#include "base/saturating.h"
#include "page/delta_table.h"
#include "page/html/html_table.h"
#include "page/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

namespace traceloom {
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

Cell text_cell(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

// Returns the share in the mean step.
Cell share_of(std::int64_t part, std::int64_t all) {
  return all > 0 ? Cell(static_cast<double>(part) / static_cast<double>(all)) : Cell();
}

// Largest deltas first. `key` and `title` are of the column with the names. A page leaves out
// columns without any value, such as modules that nobody recorded.
Table table_of(const RankDelta& step, std::vector<NamedTimes> rows, const std::string& key,
               const std::string& title) {
  std::stable_sort(rows.begin(), rows.end(), [](const NamedTimes& a, const NamedTimes& b) {
    return std::abs(a.times.delta_ns()) > std::abs(b.times.delta_ns());
  });
  Table table({{"delta_total_ns", "Delta", ColumnKind::duration},
               {"base_total_ns", "Base", ColumnKind::duration},
               {"new_total_ns", "New", ColumnKind::duration},
               {"base_share", "Base % step", ColumnKind::share},
               {"new_share", "New % step", ColumnKind::share},
               {"base_calls", "Base calls", ColumnKind::number},
               {"new_calls", "New calls", ColumnKind::number},
               {"what", "What", ColumnKind::text},
               {"role", "Role", ColumnKind::text},
               {"module", "Module", ColumnKind::text},
               {key, title, ColumnKind::text}});
  for (const NamedTimes& row : rows)
    table.add_row({row.times.delta_ns(), row.times.base_ns, row.times.changed_ns,
                   share_of(row.times.base_ns, step.base_ns),
                   share_of(row.times.changed_ns, step.changed_ns), row.times.base_calls,
                   row.times.changed_calls, text_cell(row.what), text_cell(row.role),
                   text_cell(row.module), row.name.empty() ? Cell("(no name)") : Cell(row.name)});
  return table;
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
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count},
                              {"base_ns", "Base", ColumnKind::duration},
                              {"new_ns", "New", ColumnKind::duration},
                              {"delta_ns", "Delta", ColumnKind::duration}};
  for (const Role role : roles)
    columns.push_back({fmt::format("delta_{}_ns", role_name(role)),
                       fmt::format("{} delta", role_name(role)), ColumnKind::duration});
  Table table(std::move(columns));
  for (const RankDelta& rank : page.found.ranks) {
    std::vector<Cell> row{rank.rank, rank.base_ns, rank.changed_ns, rank.delta_ns()};
    for (const Role role : roles)
      row.emplace_back(rank.changed_roles[role] - rank.base_roles[role]);
    table.add_row(std::move(row));
  }
  put_largest_first(table, kMostTableRows);
  write_table(html, table,
              {.caption = "How much each role of the mean step changed, by rank",
               .command = compare_command(page),
               .source = "page.rank_roles",
               .most_rows = kMostTableRows});
}

}  // namespace traceloom
