// A table for a terminal: aligned columns, numbers that people read, a rule under the titles.
//
//   Name  Instances     Total   Time
//   ────  ─────────  ────────  ─────
//   gemm     41,233  1.234 ms  12.3 %
#pragma once

#include "report/table.h"

#include <string>

namespace traceloom {

// With a style.width the widest text columns are shortened first, never below a readable rest: a
// table of many numbers may still be wider than the terminal.
std::string text_report(const Table& table, const TextStyle& style);

}  // namespace traceloom
