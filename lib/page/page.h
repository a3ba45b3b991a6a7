// The page of a run and that of a comparison, and their sections as HTML.
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"
#include "comparison/comparison.h"
#include "page/html/html_writer.h"
#include "page/sections.h"
#include "run/run.h"
#include "table/table.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// PageSide: the sections of a run as HTML, and the numbers of it that a page of two sides compares.
// The run itself need not stay in memory.
//
//   PageSide base = make_page_side(read_run(request), {{"base/c0", "base"}, "base/c0"});
//   use(base.sections.at("time"), base.tables.at("steps.summary"));

struct PageSide : PageSource {
  std::string name = {};  // of the capture that is shown
  std::string why = {};   // reason why there are no sections; "" if there are
  std::map<std::string_view, std::string> sections = {};  // by id, without the definitions
  std::vector<RankRoles> roles = {};                      // their sets are empty
  std::vector<StepKey> shown_steps = {};                  // that its timeline has
  WrittenTables tables = {};
};

// Returns the side, of which only names are known, with its sections.
PageSide make_page_side(const Run& run, PageSide side, const PageTree& tree,
                        const MemoryFiles& memory = {});

// write_page: one HTML file that shows a run to a person: the verdict first, then where the time
// goes, and a timeline.
//
//   prepare_for_page(request);
//   const std::string html = write_page(read_run(request), {.arguments = "traces/"});
//
// The page needs no network and no other file, and its policy forbids both. It holds the numbers of
// the other commands, each beside the command that prints it. All texts from traces are data.
//
// Size: at most 2 MB for any run (sections.h): what is too much is added up, or the largest is
// kept and the page says how much that is. The same run gives the same bytes, whatever the number
// of threads. Cost: 2 to 2.6 times the processor time of `bottleneck`.

struct PageOptions {
  // The inputs and the selection as they were typed, for the commands that the page shows:
  // "traces/ --rank 0-3".
  std::string arguments;
  PageTree tree = {};       // the tree of calls: sections.h
  MemoryFiles memory = {};  // files beside the traces
};

// Sets what the page needs of a run: details, samples, frames, and apart from these Python's
// functions of at least 20 us, since other frames would change the role of Python's time.
void prepare_for_page(RunRequest& request);

std::string write_page(const Run& run, const PageOptions& options);

// PageServing: the merged trace that is served beside the page.
//
//   page = with_viewer_link(page, {server.viewer_link("merged.json"), "merged.json", bytes});

struct PageServing {
  std::string address;  // at which ui.perfetto.dev opens the trace
  std::string trace;    // address of the trace for the page
  std::uint64_t bytes = 0;
};

// Returns the page with a button that hands the trace to ui.perfetto.dev, and a link to `address`,
// in the place of the commands that would serve it. Its policy lets it fetch from where it is
// served. A page without a timeline stays as it is.
std::string with_viewer_link(std::string page, const PageServing& serving);

// write_comparison_page: one HTML file that shows a comparison to a person: its verdict first, and
// in each section the deltas and then both sides, as the page of a run has them.
//
//   const std::string html = write_comparison_page(
//       {report, found, {"base/ new/"}, make_page_side(base_run, {...}),
//        make_page_side(new_run, {...})});
//
// `report` is that of compare_report(), whose tables the page shows; `source` has the arguments of
// `trace-stats compare`. The deltas of `report` are means over all captures; a side's own sections,
// and the deltas made of them, are of the capture that the side shows. All that is said of
// safety and size above holds.

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
