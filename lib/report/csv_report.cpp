#include "report/csv_report.h"

#include "report/cell_text.h"

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

}  // namespace

std::string csv_report(const Table& table) {
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
      append_field(out, cell_for_programs(row[i]));
    }
    out += '\n';
  }
  return out;
}

}  // namespace traceloom
