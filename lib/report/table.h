// Table: typed columns and rows, ready to be shown as text, CSV, JSON or Markdown.
//
//   Table table({{"name", "Name", ColumnKind::text}, {"total_ns", "Total", ColumnKind::duration}});
//   table.add_row({Cell("gemm"), Cell(std::int64_t{1234})});
//   std::string text = render_table(table, TableFormat::text, {});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traceloom {

enum class ColumnKind : std::uint8_t {
  text,      // std::string; left aligned
  count,     // int64; "41,233" for people
  duration,  // int64 nanoseconds; "1.234 ms" for people, ns elsewhere
  share,     // double 0..1; "12.3 %" for people, 0.123 elsewhere
};

struct Column {
  std::string key;    // CSV header and JSON key, with its unit: "total_ns"
  std::string title;  // for people, in nsys' words: "Total"
  ColumnKind kind;
};

// std::monostate is an empty cell: null in JSON, nothing in CSV, "-" for people.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column, of the column's kind.
  void add_row(std::vector<Cell> row);

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

enum class TableFormat : std::uint8_t { text, csv, json, md };

struct TextStyle {
  bool colour = false;  // ANSI colours (terminal only, NO_COLOR respected by the caller)
  int width = 0;        // columns of the terminal; the text column is cut in its middle ("...") to fit; 0: as wide as it gets
};

// Text: aligned with spaces, numbers right, one unit a cell, header line; CSV: RFC 4180, LF; md: a GitHub table;
// json: an array of objects, one line a row. UTF-8 is measured in code points. Ends with a newline.
std::string render_table(const Table& table, TableFormat format, const TextStyle& style);

// "table", "csv", "json", "md" -> format; the list for --help and did-you-mean.
inline constexpr std::string_view kTableFormatNames[] = {"table", "csv", "json", "md"};

}  // namespace traceloom
