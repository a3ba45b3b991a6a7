// write_table: a table of a report as HTML, which the page's script can sort and filter.
//
//   write_table(html, report.tables[0].table, {.caption = "Kernels", .command = "trace-stats
//   kernels traces/"});
//
// Each number has its exact value beside its text: data-v is the number in the JSON of the table
// that data-t names ("steps.summary"), and data-k of the column is its key there. Shares have a
// bar.
#pragma once

#include "page/html/html_writer.h"
#include "table/table.h"

#include <cstddef>
#include <string>

namespace traceloom {

struct TableLook {
  std::string caption;
  std::string command;      // the command line that prints the same numbers
  std::string source = {};  // "steps.summary": the command, and the key of the table in its JSON
  std::size_t most_rows = 100;  // the first rows; how many there are is said
  bool is_tree = false;         // rows have a column "depth"; they are neither sorted nor cut
};

// Columns for few readers and for programs are left out, and so is a column in which no row has a
// value. A table without rows is not written.
void write_table(HtmlWriter& html, const Table& table, const TableLook& look);

}  // namespace traceloom
