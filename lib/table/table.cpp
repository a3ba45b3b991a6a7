#include "table/table.h"

#include "base/arithmetic.h"
#include "base/json_string.h"
#include "table/table_formats.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace traceloom {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// Returns the byte at which code point number `index` starts.
std::size_t byte_of(std::string_view text, std::size_t index) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (starts_code_point(text[i]) && index-- == 0) return i;
  return text.size();
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  const std::size_t full = text_width(text);
  if (full <= width) return std::string(text);
  const std::size_t tail = (width - 1) / 2;
  const std::size_t head = width - 1 - tail;
  std::string out(text.substr(0, byte_of(text, head)));
  out += "…";
  out += text.substr(byte_of(text, full - tail));
  return out;
}

std::vector<std::string> wrap_words(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool fits = text_width(lines.back()) + 1 + text_width(word) <= width;
    if (!fits && !lines.back().empty()) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    start = end + 1;
  }
  return lines;
}

namespace {

template <typename Value>
bool holds(const Cell& cell) {
  return std::holds_alternative<Value>(cell);
}

struct KindFacts {
  std::string_view name;
  bool (*holds)(const Cell& cell);  // a value of this kind
};

// In the order of ColumnKind.
constexpr KindFacts kKinds[] = {
    {"text", holds<std::string>}, {"count", holds<std::int64_t>}, {"duration", holds<std::int64_t>},
    {"share", holds<double>},     {"number", holds<double>},      {"bytes", holds<std::int64_t>},
    {"flag", holds<bool>},        {"quantity", holds<double>},
};

const KindFacts& facts_of(ColumnKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

bool is_empty(const Cell& cell) {
  return holds<std::monostate>(cell);
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

Table::Table(std::vector<Column> columns) : declared_(std::move(columns)) {
  std::ranges::copy_if(declared_, std::back_inserter(columns_), &Column::is_there);
}

void Table::add_row(std::vector<Cell> row) {
  if (row.size() != columns_.size()) throw std::invalid_argument("a row needs one cell a column");
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!is_empty(row[i]) && !facts_of(columns_[i].kind).holds(row[i]))
      throw std::invalid_argument("a cell of another kind than its column " + columns_[i].key);
  rows_.push_back(std::move(row));
}

std::optional<std::size_t> Table::find_column(std::string_view key) const {
  const auto column = std::find_if(columns_.begin(), columns_.end(),
                                   [&](const Column& found) { return found.key == key; });
  if (column == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(column - columns_.begin());
}

void Table::show_to_all(std::string_view key) {
  if (const std::optional<std::size_t> index = find_column(key))
    columns_[*index].readers = Readers::all;
}

bool Table::sort_by(std::string_view key) {
  const std::optional<std::size_t> index = find_column(key);
  if (!index) return false;
  show_to_all(key);
  if (nesting_) {
    sort_nested(*index);
    return true;
  }
  std::ranges::stable_sort(
      rows_, [&](const auto& a, const auto& b) { return comes_before(a[*index], b[*index]); });
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

void Table::keep_largest(std::string_view key, std::size_t count) {
  const std::optional<std::size_t> column = find_column(key);
  if (!column || rows_.size() <= count) return;
  const auto size_of = [&](std::size_t row) {
    const auto* const number = std::get_if<std::int64_t>(&rows_[row][*column]);
    return number == nullptr ? 0 : std::abs(*number);
  };
  std::vector<std::size_t> kept(rows_.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  std::ranges::stable_sort(kept, std::greater(), size_of);
  kept.resize(count);
  std::ranges::sort(kept);
  for (std::size_t i = 0; i < count; ++i) std::swap(rows_[i], rows_[kept[i]]);
  rows_.resize(count);
}

void Table::shorten_texts(std::size_t width) {
  for (std::vector<Cell>& row : rows_)
    for (Cell& cell : row)
      if (std::string* const text = std::get_if<std::string>(&cell))
        *text = shorten_middle(one_line(*text), width);
}

namespace {

// True for a column by which rows of one rank differ.
bool tells_rows_apart(const Column& column) {
  return column.kind == ColumnKind::text || column.kind == ColumnKind::flag ||
         column.key == "step" || column.key == "epoch" || column.key == "device" ||
         column.key == "stream";
}

// The number of a group in one column.
struct GroupedCell {
  std::int64_t sum = 0;
  double number = 0;
  std::int64_t count = 0;  // cells that are not empty

  void add(const Cell& cell) {
    if (holds<std::monostate>(cell)) return;
    ++count;
    if (const auto* const whole = std::get_if<std::int64_t>(&cell)) add_to(sum, *whole);
    if (const auto* const part = std::get_if<double>(&cell)) number += *part;
  }
  Cell cell(ColumnKind kind) const {
    if (count == 0) return {};
    if (kind == ColumnKind::count || kind == ColumnKind::bytes) return sum;
    if (kind == ColumnKind::duration) return sum / count;
    return number / static_cast<double>(count);
  }
};

}  // namespace

Table Table::grouped(std::size_t column, const Column& by,
                     const std::function<Cell(const Cell&)>& group_of) const {
  if (nesting_) throw std::invalid_argument("the rows of a tree have no groups");
  std::vector<Column> columns = columns_;
  columns[column] = by;
  std::map<std::vector<Cell>, std::vector<GroupedCell>> groups;
  for (const std::vector<Cell>& row : rows_) {
    std::vector<Cell> key;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (i == column || tells_rows_apart(columns[i]))
        key.push_back(i == column ? group_of(row[i]) : row[i]);
    std::vector<GroupedCell>& cells = groups[std::move(key)];
    cells.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) cells[i].add(row[i]);
  }
  Table table(columns);
  table.show_in(unit_);
  for (const auto& [key, cells] : groups) {
    std::vector<Cell> row;
    auto next = key.begin();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_key = i == column || tells_rows_apart(columns[i]);
      row.push_back(is_key ? *next++ : cells[i].cell(columns[i].kind));
    }
    table.add_row(std::move(row));
  }
  return table;
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
        name->insert(
            0, std::min(kMostIndent, static_cast<std::size_t>(depth_of(row[nesting_->depth]))),
            ' ');
    }
    table.rows_.push_back(std::move(cells));
  }
  return table;
}

std::string column_list(const Table& table, std::string_view name) {
  std::string text;
  for (const Column& column : table.declared())
    text +=
        fmt::format("{}\t{}\t{}\t{}\n", name, column.key, facts_of(column.kind).name, column.title);
  return text;
}

std::optional<TableFormat> parse_table_format(std::string_view name) {
  if (name == "columns") return TableFormat::columns;
  const auto found = std::find(std::begin(kTableFormatNames), std::end(kTableFormatNames), name);
  if (found == std::end(kTableFormatNames)) return std::nullopt;
  return static_cast<TableFormat>(found - std::begin(kTableFormatNames));
}

std::string render_table(const Table& table, TableFormat format, const TextStyle& style) {
  switch (format) {
    case TableFormat::text:
      return text_report(table, style).text;
    case TableFormat::csv:
      return csv_report(table, style.csv_safe);
    case TableFormat::json:
      return json_report(table);
    case TableFormat::md:
      return markdown_report(table.for_people(style.wide));
    case TableFormat::columns:
      return column_list(table, "rows");
  }
  throw std::invalid_argument("no such table format");
}

namespace {

std::string signed_count(std::int64_t count) {
  const auto magnitude = static_cast<std::uint64_t>(count);
  return count < 0 ? "-" + format_count(0 - magnitude) : format_count(magnitude);
}

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-";
}

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{:.3f}", number) : "-";
}

std::string quantity_text(double value, std::string_view unit) {
  constexpr double kMostBytes = 9e18;  // larger numbers do not fit std::int64_t
  const bool fits = std::isfinite(value) && std::abs(value) < kMostBytes;
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::share)])
    return share_text(value);
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::bytes)] && fits)
    return bytes_words(std::llround(value));
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::bytes_per_second)] && fits)
    return bytes_words(std::llround(value)) + "/s";
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::per_second)])
    return number_text(value) + " /s";
  return number_text(value);
}

std::string_view unit_of(const Table& table, std::size_t row) {
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    if (const auto* text = std::get_if<std::string>(&table.rows()[row][i]);
        text != nullptr && table.columns()[i].key == "unit")
      return *text;
  return {};
}

}  // namespace

std::string cell_for_people(const Table& table, std::size_t row, std::size_t column) {
  const Cell& cell = table.rows()[row][column];
  const ColumnKind kind = table.columns()[column].kind;
  if (const auto* value = std::get_if<double>(&cell);
      value != nullptr && kind == ColumnKind::quantity)
    return quantity_text(*value, unit_of(table, row));
  return cell_for_people(cell, kind, table.unit());
}

std::string cell_for_people(const Cell& cell, ColumnKind kind, TimeUnit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return kind == ColumnKind::number ? number_text(*share) : share_text(*share);
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    return kind == ColumnKind::duration ? format_duration(*number, unit)
           : kind == ColumnKind::bytes  ? bytes_words(*number)
                                        : signed_count(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  return "-";
}

std::string cell_for_programs(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return to_valid_utf8(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return std::isfinite(*share) ? fmt::format("{}", *share) : "";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  return "";
}

}  // namespace traceloom
