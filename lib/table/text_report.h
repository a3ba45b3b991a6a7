// A table for a terminal: aligned columns, numbers that people read, a rule under the titles.
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
  bool has_more = false;  // columns that the width had no room for
};

// What to say under tables that have more.
inline constexpr std::string_view kMoreColumnsNote =
    "more columns: --wide, a wider terminal, --format csv or json";

// With a style.width columns are left out until the rest fits with readable names: first those that
// are 0 or empty in all rows, then those for the fewest readers, the last one first; never those
// for all. Then the widest text columns are cut, never below a readable rest: what is for all may
// still be wider than the terminal.
TextReport text_report(const Table& table, const TextStyle& style);

}  // namespace traceloom
