#include "table/json_report.h"

namespace traceloom {
namespace {

void append_cell(JsonWriter& json, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return json.value(*text);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return json.value(*number);
  if (const auto* share = std::get_if<double>(&cell)) return json.value(*share);
  if (const auto* flag = std::get_if<bool>(&cell)) return json.value(*flag);
  json.null();
}

std::string row_object(const std::vector<Column>& columns, const std::vector<Cell>& row) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (std::size_t i = 0; i < row.size(); ++i) {
    json.key(columns[i].key);
    append_cell(json, row[i]);
  }
  json.end_object();
  return text;
}

}  // namespace

void append_rows(JsonWriter& json, const Table& table) {
  json.begin_array();
  for (const std::vector<Cell>& row : table.rows()) json.raw(row_object(table.columns(), row));
  json.end_array();
}

std::string json_report(const Table& table) {
  std::string out;
  JsonWriter json(out, 2);
  append_rows(json, table);
  out += '\n';
  return out;
}

}  // namespace traceloom
