// write_comparison_page: one HTML file that shows a comparison to a person, led by its verdict.
//
//   const std::string html = write_comparison_page(report, found, "base/ new/");
//
// `report` is that of compare_report(), whose tables the page shows; `arguments` are those of
// `trace-stats compare`. All that page.h says of safety and size holds.
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"

#include <string>
#include <string_view>

namespace traceloom {

std::string write_comparison_page(const Report& report, const Comparison& found,
                                  std::string_view arguments);

}  // namespace traceloom
