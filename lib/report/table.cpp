#include "report/table.h"

#include "report/csv_report.h"
#include "report/json_report.h"
#include "report/markdown_report.h"
#include "report/text_report.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace traceloom {
namespace {

bool fits(const Cell& cell, ColumnKind kind) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  switch (kind) {
    case ColumnKind::text:
      return std::holds_alternative<std::string>(cell);
    case ColumnKind::count:
    case ColumnKind::duration:
    case ColumnKind::bytes:
      return std::holds_alternative<std::int64_t>(cell);
    case ColumnKind::share:
    case ColumnKind::number:
    case ColumnKind::quantity:
      return std::holds_alternative<double>(cell);
  }
  return false;
}

bool is_empty(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

bool comes_before(const Cell& a, const Cell& b) {
  if (is_empty(a) || is_empty(b)) return !is_empty(a) && is_empty(b);
  return std::holds_alternative<std::string>(a) ? a < b : b < a;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<Cell> row) {
  if (row.size() != columns_.size()) throw std::invalid_argument("a row needs one cell a column");
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!fits(row[i], columns_[i].kind))
      throw std::invalid_argument("a cell of another kind than its column " + columns_[i].key);
  rows_.push_back(std::move(row));
}

bool Table::sort_by(std::string_view key) {
  const auto column = std::find_if(columns_.begin(), columns_.end(),
                                   [&](const Column& found) { return found.key == key; });
  if (column == columns_.end()) return false;
  const auto index = static_cast<std::size_t>(column - columns_.begin());
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](const auto& a, const auto& b) { return comes_before(a[index], b[index]); });
  return true;
}

std::optional<TableFormat> parse_table_format(std::string_view name) {
  const auto found = std::find(std::begin(kTableFormatNames), std::end(kTableFormatNames), name);
  if (found == std::end(kTableFormatNames)) return std::nullopt;
  return static_cast<TableFormat>(found - std::begin(kTableFormatNames));
}

std::string render_table(const Table& table, TableFormat format, const TextStyle& style) {
  switch (format) {
    case TableFormat::text:
      return text_report(table, style);
    case TableFormat::csv:
      return csv_report(table);
    case TableFormat::json:
      return json_report(table);
    case TableFormat::md:
      return markdown_report(table);
  }
  throw std::invalid_argument("no such table format");
}

}  // namespace traceloom
