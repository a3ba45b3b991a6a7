// Tables: typed columns and rows, their cells as text, and the width of text in a terminal.
#pragma once

#include "base/units.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traceloom {

// text_width, shorten_middle, wrap_words: measure text in code points, and fit it to a terminal.
//
//   shorten_middle("void at::native::vectorized_elementwise_kernel", 20)
//   // "void at::n…se_kernel"

// Returns the number of code points of `text`, which is valid UTF-8. Wide characters count as one.
std::size_t text_width(std::string_view text);

// Returns `text`, or its two ends around a "…", with at most `width` (>= 1) code points. Both ends
// stay because the names of kernels differ at both ends.
std::string shorten_middle(std::string_view text, std::size_t width);

// Returns the lines of `text`, broken at spaces so that none has more than `width` code points. A
// word that is longer has a line of its own. "\n" ends a line.
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

// Table: typed columns and rows, which can be shown as text, CSV, JSON or Markdown.
//
//   Table table({{"name", "Name", ColumnKind::text}, {"total_ns", "Total", ColumnKind::duration}});
//   table.add_row({Cell("gemm"), Cell(std::int64_t{1234})});
//   std::string text = render_table(table, TableFormat::text, {});
//
// columns.h makes tables of columns that know their values.
//
// To add a format, add an enumerator and a name here, a function in table_formats.h
// and .cpp, and a line in table.cpp.

enum class ColumnKind : std::uint8_t {
  text,      // std::string; left aligned
  count,     // int64; "41,233" for people
  duration,  // int64 nanoseconds; "1.234 ms" for people, ns elsewhere
  share,     // double 0..1; "12.3 %" for people, 0.123 elsewhere
  number,    // double; "12.345" for people, the shortest text elsewhere
  bytes,     // int64; "1.5 GiB" for people, bytes elsewhere
  flag,      // bool; "yes" or "no" for people, true or false elsewhere
  quantity,  // double in the unit that the row names in its column "unit" (kQuantityUnitNames)
};

enum class QuantityUnit : std::uint8_t { none, share, bytes, per_second, bytes_per_second };
// The names stand in the order of the enum.
inline constexpr std::string_view kQuantityUnitNames[] = {"", "share", "bytes", "1/s", "bytes/s"};
// The readers who are shown a column. If a terminal has no room for all columns, those for few
// readers go first, then those for some, then those for most. Columns for programs appear in CSV
// and JSON, and in text only with TextStyle::wide.
enum class Readers : std::uint8_t { all, most, some, few, programs };

struct Column {
  std::string key;    // CSV header and JSON key, with its unit: "total_ns"
  std::string title;  // title for people, in nsys' words: "Total"
  ColumnKind kind;
  Readers readers = Readers::all;
  bool is_there = true;  // false: this table does without it, others of its sort may not
};

// std::monostate is an empty cell: null in JSON, nothing in CSV, "-" for people.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

// Makes a cell for the column "unit".
inline Cell unit_cell(QuantityUnit unit) {
  return std::string(kQuantityUnitNames[static_cast<std::size_t>(unit)]);
}

// The depth up to which the names of a nested table are indented: deeper, a terminal shows nothing
// but spaces, and a table of N nested rows would have N * N of them.
inline constexpr std::size_t kMostIndent = 64;

class Table {
 public:
  // Leaves out columns that are not there.
  explicit Table(std::vector<Column> columns);
  // Takes one cell for each column, of the column's kind or empty; anything else throws
  // std::invalid_argument.
  void add_row(std::vector<Cell> row);

  // Sets the unit of durations for people.
  void show_in(TimeUnit unit) { unit_ = unit; }
  TimeUnit unit() const { return unit_; }

  // Sorts by all cells, from the first column on; equal rows are equal.
  void sort_rows() { std::sort(rows_.begin(), rows_.end()); }
  // Shows all readers the column with that key, if there is one.
  void show_to_all(std::string_view key);
  // Sorts by the column with that key: numbers descending, texts ascending, empty cells last, equal
  // rows in their old order. All readers are shown that column from then on. Returns false if there
  // is no such column.
  bool sort_by(std::string_view key);
  // Makes the rows a tree: the children of a row follow it and have a greater number in the column
  // `depth`, which begins at 0. Sorting then orders siblings, and people see the texts of the
  // column `name` indented, up to kMostIndent spaces. Throws std::invalid_argument if there are no
  // such columns.
  void nest(std::string_view depth, std::string_view name);
  // Returns a table with a row for each group of rows: group_of(the cell in `column`), which stands
  // in a column `by` in its place. Rows also differ by their texts, flags and numbers of steps,
  // devices and streams. Counts and bytes are the sums of a group, other numbers the means of its
  // rows.
  // Throws std::invalid_argument for nested rows, of which none can stand for several.
  Table grouped(std::size_t column, const Column& by,
                const std::function<Cell(const Cell&)>& group_of) const;
  // Returns the table without the columns for programs (unless `wide`) and with nested names
  // indented.
  Table for_people(bool wide = false) const;
  // Keeps the first `count` rows.
  void cut_to(std::size_t count) { rows_.resize(std::min(count, rows_.size())); }
  // Keeps the `count` rows with the largest whole numbers in that column, whatever their sign, in
  // their order. Of equal ones, the first stay.
  void keep_largest(std::string_view key, std::size_t count);
  // Shortens texts in their middle, as people see them, to at most `width` (>= 1) code points.
  void shorten_texts(std::size_t width);

  const std::vector<Column>& columns() const { return columns_; }
  // The columns with which the table was declared, also those that are not there.
  const std::vector<Column>& declared() const { return declared_; }
  std::optional<std::size_t> find_column(std::string_view key) const;
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  void sort_nested(std::size_t column);

  struct Nesting {
    std::size_t depth;
    std::size_t name;
  };
  std::optional<Nesting> nesting_;
  TimeUnit unit_ = TimeUnit::automatic;
  std::vector<Column> declared_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Lists the columns with which a table was declared, a line a column: the name of the table, key,
// kind and title, with tabs between them.
std::string column_list(const Table& table, std::string_view name);

enum class TableFormat : std::uint8_t { text, csv, json, md, columns };

// Tables for people hold no character that a terminal would obey; the other formats keep names
// unchanged.
constexpr bool is_for_people(TableFormat format) {
  return format == TableFormat::text || format == TableFormat::md;
}

// The names stand in the order of the enum; --help and did-you-mean use them. The last format has a
// name, "columns", that they do not mention: the pages of commands are made with it.
inline constexpr std::string_view kTableFormatNames[] = {"table", "csv", "json", "md"};

// Returns the format of "table", "csv", "json", "md" or "columns"; nullopt for other names.
std::optional<TableFormat> parse_table_format(std::string_view name);

struct TextStyle {
  bool colour = false;    // ANSI colours (terminal only, NO_COLOR respected by the caller)
  int width = 0;          // width of lines, reached by leaving out columns; 0: no limit
  bool cut_names = true;  // shorten text columns in their middle ("…") as well to reach the width
  int cut_width = 0;      // the width that names are cut to reach, if it is another one
  bool wrap = false;      // break the sentences beside tables into lines of that width
  bool wide = false;      // show all columns, also those for programs, whatever the width
  bool csv_safe = false;  // write CSV in which a spreadsheet runs no name (table_formats.h)
};

// Renders the table in one of these formats:
// - text: aligned with spaces, numbers right, one unit a cell, header and rule
// - csv: RFC 4180 with LF
// - json: an array of objects, one line a row
// - md: a GitHub table
// - columns: the column_list() of rows
//
// The result is always valid UTF-8, is measured in code points and ends with a newline. No name can
// break the format: for people, control characters are written as escapes. To put rows into a
// bigger JSON object, see table_formats.h.
std::string render_table(const Table& table, TableFormat format, const TextStyle& style);

// Formats cells as text, for people and for programs; no other code formats numbers of tables.

// Returns "gemm", "41,233", "1.234 ms", "12.3 %", or "-" for an empty cell: one line, safe for a
// terminal.
std::string cell_for_people(const Cell& cell, ColumnKind kind, TimeUnit unit = TimeUnit::automatic);

// The same for a cell of a table, in the table's unit of time or the row's unit of quantities.
std::string cell_for_people(const Table& table, std::size_t row, std::size_t column);

// Returns "gemm", "41233", "1234000", "0.123" (the shortest text of the double), or "" for an empty
// cell.
std::string cell_for_programs(const Cell& cell);

// Columns other than text are right-aligned, so that digits line up.
inline bool is_right_aligned(ColumnKind kind) {
  return kind != ColumnKind::text;
}

}  // namespace traceloom
