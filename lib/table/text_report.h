// Renders a table for a terminal: aligned columns, numbers for people, a rule under the titles.
//
//   Name  Instances     Total   Time
//   ────  ─────────  ────────  ─────
//   gemm     41,233  1.234 ms  12.3 %
#pragma once

#include "table/table.h"

#include <string>
#include <string_view>

namespace traceloom {

struct TextReport {
  std::string text;
  bool has_more = false;  // the width had no room for some columns
};

// The note to print under tables with has_more.
inline constexpr std::string_view kMoreColumnsNote =
    "more columns: --wide, a wider terminal, --format csv or json";

// With a style.width, columns are left out until the rest fits with readable names. They go in this
// order: those that are 0 or empty in all rows, then those for the fewest readers, the last one
// first. Columns for all readers stay. Then the widest text columns are cut, but not below a
// readable width, so the table may still be wider than the terminal.
TextReport text_report(const Table& table, const TextStyle& style);

}  // namespace traceloom
