// The cells of a report's tables, by the names that scripts know them by.
//
//   CHECK(number_in(rows_of(report, "rows")[0], "total_ns") == 400'000);
#pragma once

#include "analysis/report.h"

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traceloom {

using ReportRow = std::map<std::string, Cell, std::less<>>;

inline std::vector<ReportRow> rows_of(const Report& report, std::string_view key) {
  for (const ReportTable& part : report.tables) {
    if (part.key != key) continue;
    std::vector<ReportRow> rows;
    for (const std::vector<Cell>& cells : part.table.rows()) {
      ReportRow row;
      for (std::size_t i = 0; i < cells.size(); ++i) row[part.table.columns()[i].key] = cells[i];
      rows.push_back(std::move(row));
    }
    return rows;
  }
  throw std::runtime_error("no table " + std::string(key));
}

inline const Cell& cell_in(const ReportRow& row, std::string_view key) {
  const auto found = row.find(key);
  if (found == row.end()) throw std::runtime_error("no column " + std::string(key));
  return found->second;
}
inline std::int64_t number_in(const ReportRow& row, std::string_view key) {
  return std::get<std::int64_t>(cell_in(row, key));
}
inline double share_in(const ReportRow& row, std::string_view key) {
  return std::get<double>(cell_in(row, key));
}
inline std::string text_in(const ReportRow& row, std::string_view key) {
  return std::get<std::string>(cell_in(row, key));
}
// Returns "" for a cell without text, as one of a column that only some rows have.
inline std::string text_or_nothing(const ReportRow& row, std::string_view key) {
  const Cell& cell = cell_in(row, key);
  return std::holds_alternative<std::string>(cell) ? std::get<std::string>(cell) : "";
}
// Returns the microseconds of a time, which is in nanoseconds.
inline double us_in(const ReportRow& row, std::string_view key) {
  return static_cast<double>(number_in(row, key)) / 1000;
}

}  // namespace traceloom
