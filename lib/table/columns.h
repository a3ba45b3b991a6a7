// ColumnOf: a column of a table together with its value for a row, so that a table is declared
// once.
//
//   using enum ColumnKind;
//   const ColumnsOf<Load> columns{
//       {"rank", "Rank", count, &Load::rank},
//       {"wait_ns", "Wait", duration, [](auto& of) { return of.end_ns - of.start_ns; }},
//       {"epoch", "Epoch", count, Readers::some, has_epochs, &Load::epoch},
//   };
//   Table table = make_table(loads, columns);
//
// The declaration is what CSV headers, keys of JSON and the keys in a command's page are made from.
#pragma once

#include "table/table.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace traceloom {

// Makes a cell of a number, a flag, a text or a cell, and an empty one of a std::optional without a
// value.
template <typename Value>
Cell to_cell(const Value& value) {
  if constexpr (std::same_as<Value, Cell> || std::same_as<Value, bool>)
    return value;
  else if constexpr (std::integral<Value>)
    return static_cast<std::int64_t>(value);
  else if constexpr (std::floating_point<Value>)
    return static_cast<double>(value);
  else if constexpr (std::convertible_to<const Value&, std::string_view>)
    return std::string(std::string_view(value));
  else
    return value ? to_cell(*value) : Cell{};
}

// Makes an empty cell if the value is not known.
template <typename Value>
Cell cell_if(bool is_known, const Value& value) {
  return is_known ? to_cell(value) : Cell{};
}

inline Cell text_or_nothing(std::string_view text) {
  return cell_if(!text.empty(), text);
}

// Returns a member of a row, or what a function says of it. Compilers take longer for std::invoke.
template <typename Value, typename Row>
decltype(auto) value_in(const Value& value, const Row& row) {
  if constexpr (std::is_member_object_pointer_v<Value>)
    return (row.*value);
  else if constexpr (std::is_member_function_pointer_v<Value>)
    return (row.*value)();
  else
    return value(row);
}

// The value of a column: a text of the row, and nothing if that is empty.
template <typename Text>
auto text_of(Text text) {
  return [text](const auto& row) { return text_or_nothing(value_in(text, row)); };
}

// The value of a column: a member of a member of the row.
template <typename Outer, typename Inner>
auto path(Outer outer, Inner inner) {
  return [outer, inner](const auto& row) { return value_in(inner, value_in(outer, row)); };
}

// Returns an empty cell if `all` is 0.
inline Cell share_cell(std::int64_t part, std::int64_t all) {
  if (all <= 0) return {};
  return static_cast<double>(part) / static_cast<double>(all);
}

// The value of a column with the share_cell() of two members of a row.
template <typename Part, typename All>
auto share_of(Part part, All all) {
  return
      [part, all](const auto& row) { return share_cell(value_in(part, row), value_in(all, row)); };
}

// What makes the cells of a column: a member of Row, or a function of a row whose result to_cell()
// accepts. The function may capture a little, such as a reference to what all rows share.
template <typename Row>
class CellMaker {
 public:
  // A compiler takes less time for this than for std::function.
  template <typename Value>
  CellMaker(Value value) : make_(&make<Value>) {  // NOLINT(google-explicit-constructor)
    static_assert(sizeof(Value) <= kMostBytes && std::is_trivially_copyable_v<Value>);
    std::memcpy(value_.data(), &value, sizeof(Value));
  }

  Cell operator()(const Row& row) const { return make_(value_.data(), row); }

 private:
  static constexpr std::size_t kMostBytes = 4 * sizeof(void*);

  template <typename Value>
  static Cell make(const void* value, const Row& row) {
    return to_cell(value_in(*static_cast<const Value*>(value), row));
  }

  alignas(void*) std::array<std::byte, kMostBytes> value_{};
  Cell (*make_)(const void*, const Row&);
};

// The table does without a column that is not there (Column::is_there).
template <typename Row>
struct ColumnOf {
  ColumnOf(std::string_view key, std::string_view title, ColumnKind kind, Readers readers,
           bool is_there, CellMaker<Row> cell_of)
      : column{std::string(key), std::string(title), kind, readers, is_there}, cell(cell_of) {}
  ColumnOf(std::string_view key, std::string_view title, ColumnKind kind, Readers readers,
           CellMaker<Row> cell_of)
      : ColumnOf(key, title, kind, readers, true, cell_of) {}
  ColumnOf(std::string_view key, std::string_view title, ColumnKind kind, bool is_there,
           CellMaker<Row> cell_of)
      : ColumnOf(key, title, kind, Readers::all, is_there, cell_of) {}
  ColumnOf(std::string_view key, std::string_view title, ColumnKind kind, CellMaker<Row> cell_of)
      : ColumnOf(key, title, kind, Readers::all, true, cell_of) {}

  Column column;
  CellMaker<Row> cell;
};

template <typename Row>
using ColumnsOf = std::vector<ColumnOf<Row>>;

template <typename Row>
Table empty_table(const ColumnsOf<Row>& columns) {
  std::vector<Column> plain;
  plain.reserve(columns.size());
  for (const ColumnOf<Row>& column : columns) plain.push_back(column.column);
  return Table(std::move(plain));
}

// Adds a row to an empty_table() of these columns. Throws std::invalid_argument if a value is not
// of its column's kind.
template <typename Row>
void add_row(Table& table, const ColumnsOf<Row>& columns, const Row& row) {
  std::vector<Cell> cells;
  cells.reserve(table.columns().size());
  for (const ColumnOf<Row>& column : columns)
    if (column.column.is_there) cells.push_back(column.cell(row));
  table.add_row(std::move(cells));
}

template <typename Row, typename Rows>
Table make_table(const Rows& rows, const ColumnsOf<Row>& columns) {
  Table table = empty_table(columns);
  for (const Row& row : rows) add_row(table, columns, row);
  return table;
}

}  // namespace traceloom
