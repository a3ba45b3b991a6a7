// The page of a comparison.
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"
#include "page/html/html_writer.h"
#include "page/page.h"

#include <string>

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

}  // namespace traceloom
