// Formats cells as text, for people and for programs; no other code formats numbers of tables.
#pragma once

#include "table/table.h"

#include <string>

namespace traceloom {

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
