// The changes between two sides, as tables and figures of their page.
#pragma once

#include "page/comparison_page.h"
#include "page/html/html_writer.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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

struct DeltaColumns {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;  // numbers
};

Table delta_table(const Table& base, const Table& changed, const DeltaColumns& columns);

// Puts the rows whose first delta is greatest first, if there are more than `most`.
void put_largest_first(Table& table, std::size_t most);

// Tables of a comparison on its page: those of its report, and its rows by what they are.
//
//   write_compared(html, page, "roles", "By role");
//   write_rows_of(html, page, RowsOf::devices);
//
// All are of a mean step of the shown rank (Comparison::shown), over all captures.

// Writes a table of the report, with its title if `caption` is empty.
void write_compared(HtmlWriter& html, const ComparisonPage& page, std::string_view key,
                    const std::string& caption);

enum class RowsOf : std::uint8_t { communication, devices };

// Writes the rows of devices, or of communication alone, with all their time, also where other work
// hides it, and with its share of the step.
void write_rows_of(HtmlWriter& html, const ComparisonPage& page, RowsOf what);

// Writes the rows by operator: by its work on devices, or by its own time if there is none.
void write_operators(HtmlWriter& html, const ComparisonPage& page);

// Returns the roles that take time on a rank of either side.
std::vector<Role> roles_with_time(const std::vector<RankDelta>& ranks);

// Writes of each rank how much each role of its mean step changed.
void write_rank_roles(HtmlWriter& html, const ComparisonPage& page);

// Figures of a page of two sides: how each step of each rank changed, and the mean steps of both
// sides split into roles.

// Writes the heat map of the deltas, and the steps that changed most as a table. Without ranks and
// steps that both sides have, it says so.
void write_delta_map(HtmlWriter& html, const ComparisonPage& page);

// Writes two bars a rank: the ranks that changed most, if there are many.
void write_rank_bars(HtmlWriter& html, const ComparisonPage& page);

}  // namespace traceloom
