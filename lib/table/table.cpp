#include "table/table.h"

#include "base/one_line.h"
#include "table/csv_report.h"
#include "table/json_report.h"
#include "table/markdown_report.h"
#include "table/text_report.h"
#include "table/text_width.h"

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
    case ColumnKind::flag:
      return std::holds_alternative<bool>(cell);
  }
  return false;
}

bool is_empty(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

// Returns the depth of a nested row; an empty cell and a negative number mean the top.
std::int64_t depth_of(const Cell& cell) {
  const auto* const depth = std::get_if<std::int64_t>(&cell);
  return depth == nullptr ? 0 : std::max<std::int64_t>(*depth, 0);
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

std::optional<std::size_t> Table::find_column(std::string_view key) const {
  const auto column = std::find_if(columns_.begin(), columns_.end(),
                                   [&](const Column& found) { return found.key == key; });
  if (column == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(column - columns_.begin());
}

bool Table::sort_by(std::string_view key) {
  const std::optional<std::size_t> index = find_column(key);
  if (!index) return false;
  columns_[*index].readers = Readers::all;
  if (nesting_) {
    sort_nested(*index);
    return true;
  }
  std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& a, const auto& b) {
    return comes_before(a[*index], b[*index]);
  });
  return true;
}

void Table::nest(std::string_view depth, std::string_view name) {
  const std::optional<std::size_t> depth_column = find_column(depth);
  const std::optional<std::size_t> name_column = find_column(name);
  if (!depth_column || !name_column || columns_[*depth_column].kind != ColumnKind::count)
    throw std::invalid_argument("no column of depths or of names");
  nesting_ = {*depth_column, *name_column};
}

void Table::sort_nested(std::size_t column) {
  const std::size_t none = rows_.size();
  // the last entry holds the rows of the top
  std::vector<std::vector<std::size_t>> inner(rows_.size() + 1);
  std::vector<std::size_t> open;  // the open rows, by depth
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::int64_t depth = depth_of(rows_[row][nesting_->depth]);
    open.resize(std::min(open.size(), static_cast<std::size_t>(depth)));
    inner[open.empty() ? none : open.back()].push_back(row);
    open.push_back(row);
  }
  std::vector<std::vector<Cell>> sorted;
  sorted.reserve(rows_.size());
  std::vector<std::size_t> next{none};
  while (!next.empty()) {
    const std::size_t row = next.back();
    next.pop_back();
    if (row != none) sorted.push_back(std::move(rows_[row]));
    std::vector<std::size_t>& rows = inner[row];
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return comes_before(rows_[a][column], rows_[b][column]);
    });
    next.insert(next.end(), rows.rbegin(), rows.rend());
  }
  rows_ = std::move(sorted);
}

void Table::shorten_texts(std::size_t width) {
  for (std::vector<Cell>& row : rows_)
    for (Cell& cell : row)
      if (std::string* const text = std::get_if<std::string>(&cell))
        *text = shorten_middle(one_line(*text), width);
}

Table Table::for_people(bool wide) const {
  std::vector<std::size_t> kept;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (wide || columns_[i].readers != Readers::programs) {
      kept.push_back(i);
      columns.push_back(columns_[i]);
    }
  Table table(std::move(columns));
  table.unit_ = unit_;
  for (const std::vector<Cell>& row : rows_) {
    std::vector<Cell> cells;
    cells.reserve(kept.size());
    for (const std::size_t i : kept) {
      cells.push_back(row[i]);
      if (!nesting_ || i != nesting_->name) continue;
      if (std::string* const name = std::get_if<std::string>(&cells.back()))
        name->insert(0, static_cast<std::size_t>(depth_of(row[nesting_->depth])), ' ');
    }
    table.rows_.push_back(std::move(cells));
  }
  return table;
}

std::optional<TableFormat> parse_table_format(std::string_view name) {
  const auto found = std::find(std::begin(kTableFormatNames), std::end(kTableFormatNames), name);
  if (found == std::end(kTableFormatNames)) return std::nullopt;
  return static_cast<TableFormat>(found - std::begin(kTableFormatNames));
}

std::string render_table(const Table& table, TableFormat format, const TextStyle& style) {
  switch (format) {
    case TableFormat::text:
      return text_report(table, style).text;
    case TableFormat::csv:
      return style.csv_safe ? spreadsheet_csv_report(table) : csv_report(table);
    case TableFormat::json:
      return json_report(table);
    case TableFormat::md:
      return markdown_report(table.for_people(style.wide));
  }
  throw std::invalid_argument("no such table format");
}

}  // namespace traceloom
