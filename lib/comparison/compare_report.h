// compare_report: shows a comparison to people and programs, with its gates and its slow steps.
//
//   const Report report = compare_report(sides, options, compare(sides, options));
//   fmt::print("{}", render_report(report, TableFormat::text, {}));
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"

namespace traceloom {

// The caller fills in Report::files.
Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found);

}  // namespace traceloom
