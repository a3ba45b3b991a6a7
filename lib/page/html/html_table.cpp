#include "page/html/html_table.h"

#include "base/units.h"
#include "table/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace traceloom {
namespace {

bool is_empty(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

std::vector<std::size_t> shown_columns(const Table& table, std::size_t rows) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (column.readers == Readers::few || column.readers == Readers::programs) continue;
    const auto has_value = [&](const std::vector<Cell>& row) { return !is_empty(row[i]); };
    if (std::any_of(table.rows().begin(), table.rows().begin() + static_cast<std::ptrdiff_t>(rows),
                    has_value))
      shown.push_back(i);
  }
  return shown;
}

void write_number(HtmlWriter& html, const Table& table, std::size_t row, std::size_t column) {
  const Cell& cell = table.rows()[row][column];
  if (is_empty(cell)) {
    html.raw("<td class=n>-");
    return;
  }
  html.raw(fmt::format("<td class=n data-v={}>", cell_for_programs(cell)));
  html.text(cell_for_people(table, row, column));
  // A difference of shares may be negative, and has no bar.
  const Column& shown = table.columns()[column];
  if (shown.kind != ColumnKind::share || shown.key.starts_with("delta_")) return;
  const double share = std::clamp(std::get<double>(cell), 0.0, 1.0);
  html.raw(fmt::format("<svg class=share aria-hidden=true><rect width={:.1f}% height=100% /></svg>",
                       100 * share));
}

// End tags of cells and rows are left out, as HTML allows: they are a fifth of a table's bytes.
void write_row(HtmlWriter& html, const Table& table, std::size_t row,
               const std::vector<std::size_t>& columns, std::optional<std::size_t> depth) {
  if (depth)
    html.raw(fmt::format("<tr data-d={}>", cell_for_programs(table.rows()[row][*depth])));
  else
    html.raw("<tr>");
  for (const std::size_t column : columns) {
    if (is_right_aligned(table.columns()[column].kind)) {
      write_number(html, table, row, column);
      continue;
    }
    html.raw("<td>");
    if (depth && table.columns()[column].key == "name")
      html.raw(std::string(
          2 * static_cast<std::size_t>(std::get<std::int64_t>(table.rows()[row][*depth])), ' '));
    const Cell& cell = table.rows()[row][column];
    html.text(is_empty(cell) ? "-" : page_name(std::get<std::string>(cell)));
  }
  html.line();
}

void write_head(HtmlWriter& html, const Table& table, const std::vector<std::size_t>& columns) {
  html.raw("<thead><tr>");
  for (const std::size_t i : columns) {
    const Column& column = table.columns()[i];
    if (is_right_aligned(column.kind))
      html.element("th", column.title, {{"scope", "col"}, {"data-k", column.key}, {"class", "n"}});
    else
      html.element("th", column.title, {{"scope", "col"}, {"data-k", column.key}});
  }
  html.raw("</thead>\n<tbody>\n");
}

}  // namespace

void write_table(HtmlWriter& html, const Table& table, const TableLook& look) {
  const std::size_t count =
      look.is_tree ? table.rows().size() : std::min(look.most_rows, table.rows().size());
  if (count == 0) return;
  const std::vector<std::size_t> columns = shown_columns(table, count);
  const std::optional<std::size_t> depth = look.is_tree ? table.find_column("depth") : std::nullopt;
  html.element("h3", look.caption);
  html.open("p", {{"class", "command"}});
  if (count < table.rows().size())
    html.text(fmt::format("The first {} of {} rows. All: ", format_count(count),
                          format_count(table.rows().size())));
  html.element("code", look.command);
  html.close();
  html.open(
      "div",
      {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", look.caption}});
  html.open("table", {{"class", look.is_tree ? "data tree" : "data"},
                      {"data-t", look.source},
                      {"aria-label", look.caption}});
  write_head(html, table, columns);
  for (std::size_t row = 0; row < count; ++row) write_row(html, table, row, columns, depth);
  html.raw("</tbody>");
  html.close();
  html.close();
  html.line();
}

}  // namespace traceloom
