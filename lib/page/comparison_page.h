// The page of a comparison, and the changes between its sides as tables and figures.
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"
#include "page/html/html_writer.h"
#include "page/page.h"
#include "table/table.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// write_comparison_page: one HTML file that shows a comparison to a person: its verdict first, and
// in each section the deltas and then both sides, as the page of a run has them.
//
//   const std::string html = write_comparison_page(
//       {report, found, {"base/ new/"}, make_page_side(base_run, {...}),
//        make_page_side(new_run, {...})});
//
// `report` is that of compare_report(), whose tables the page shows; `source` has the arguments of
// `trace-stats compare`. The deltas of `report` are means over all captures; a side's own sections,
// and the deltas made of them, are of the capture that the side shows. All that page.h says of
// safety and size holds.

struct ComparisonPage {
  const Report& report;
  const Comparison& found;
  PageSource source;
  PageSide base;
  PageSide changed;
};

std::string write_comparison_page(const ComparisonPage& page);

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
  bool of_both = false;                  // without the rows of one side alone
};

Table delta_table(const Table& base, const Table& changed, const DeltaColumns& columns);

// Puts the rows whose first delta is greatest first, if there are more than `most`.
void put_largest_first(Table& table, std::size_t most);

// write_deltas: what a section says of both sides together, above the sections of each.
//
//   write_deltas(html, page, "comm");
//
// Tables and figures of the comparison (Comparison::shown) are of a mean step of one rank, over all
// captures; those of the page's own tables are of the two captures. A section without deltas has
// nothing there.

void write_deltas(HtmlWriter& html, const ComparisonPage& page, std::string_view section);

}  // namespace traceloom
