// delta_table: the numbers of two tables with the same columns next to each other, with what
// changed.
//
//   const Table table = delta_table(base.tables.at("comm.rows"), changed.tables.at("comm.rows"),
//                                   {.keys = {"collective"}, .values = {"latency_ns"}});
//   table.columns()     // collective, base_latency_ns, new_latency_ns, delta_latency_ns
//
// Rows are joined by their keys; rows with equal keys in their order. A row of one side alone has
// no delta. Rows stand in the order of the base, and then those of the new side alone. Columns that
// a table does not have are left out.
#pragma once

#include "table/table.h"

#include <string_view>
#include <vector>

namespace traceloom {

struct DeltaColumns {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;  // numbers
};

Table delta_table(const Table& base, const Table& changed, const DeltaColumns& columns);

// Puts the rows whose first delta is greatest first, if there are more than `most`.
void put_largest_first(Table& table, std::size_t most);

}  // namespace traceloom
