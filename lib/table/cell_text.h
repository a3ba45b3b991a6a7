// Cells as text: the one place that says how a number reads, for people and for programs.
#pragma once

#include "table/table.h"

#include <string>

namespace traceloom {

// "gemm", "41,233", "1.234 ms", "12.3 %", "-" for an empty cell. One line, safe for a terminal.
std::string cell_for_people(const Cell& cell, ColumnKind kind, TimeUnit unit = TimeUnit::automatic);

// The same of a cell of a table, in the table's unit of time or the row's unit of quantities.
std::string cell_for_people(const Table& table, std::size_t row, std::size_t column);

// "gemm", "41233", "1234000", "0.123" (the shortest text of the double), "" for an empty cell.
std::string cell_for_programs(const Cell& cell);

// Everything but text stands at the right, so that digits line up.
inline bool is_right_aligned(ColumnKind kind) {
  return kind != ColumnKind::text;
}

}  // namespace traceloom
