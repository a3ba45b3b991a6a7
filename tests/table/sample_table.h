// The tables that the tests of all forms show, so that the forms can be compared side by side.
#pragma once

#include "table/table.h"

namespace traceloom {

inline Cell number(std::int64_t value) {
  return value;
}

inline Table empty_table() {
  return Table({{"name", "Name", ColumnKind::text},
                {"instances", "Instances", ColumnKind::count},
                {"total_ns", "Total", ColumnKind::duration},
                {"time_share", "Time", ColumnKind::share}});
}

inline Table sample_table() {
  Table table = empty_table();
  table.add_row({"gemm", number(41233), number(61'000'000'000), 0.6123});
  table.add_row({"reduce<float>, \"a\"", number(-7), number(1234), 1.0});
  table.add_row({"caf\u00E9", Cell(), Cell(), Cell()});
  return table;
}

}  // namespace traceloom
