#include "table/csv_report.h"

#include "table/cell_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace traceloom {
namespace {

void append_field(std::string& out, const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// True also for the wide forms of these characters, which some spreadsheets treat like the plain
// ones.
bool runs_in_spreadsheets(std::string_view text) {
  constexpr std::string_view kStarts[] = {"=",  "+",      "-",      "@",      "\t",    "\r",
                                          "\n", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [text](std::string_view start) { return text.starts_with(start); });
}

std::string plain_cell(const Cell& cell) {
  return cell_for_programs(cell);
}

std::string inert_cell(const Cell& cell) {
  std::string text = cell_for_programs(cell);
  if (std::holds_alternative<std::string>(cell) && runs_in_spreadsheets(text))
    text.insert(0, 1, '\'');
  return text;
}

std::string write_csv(const Table& table, std::string (*text_of)(const Cell&)) {
  std::string out;
  const std::vector<Column>& columns = table.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_field(out, columns[i].key);
  }
  out += '\n';
  for (const std::vector<Cell>& row : table.rows()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      append_field(out, text_of(row[i]));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string csv_report(const Table& table) {
  return write_csv(table, plain_cell);
}

std::string spreadsheet_csv_report(const Table& table) {
  return write_csv(table, inert_cell);
}

}  // namespace traceloom
