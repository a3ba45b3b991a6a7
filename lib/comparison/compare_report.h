// compare_report: shows a comparison to people and programs, with its gates and its slow steps.
//
//   const Report report = compare_report(sides, options, compare(sides, options));
//   fmt::print("{}", render_report(report, TableFormat::text, {}));
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"

#include <cstddef>
#include <ctime>
#include <string>

namespace traceloom {

// The caller fills in Report::files.
Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found);

// Keeps so many ranks in the table of all ranks, those that changed most.
void keep_changed_ranks(Report& report, std::size_t count);

// The most columns that tables take in a log. Texts are cut in their middle to reach it.
inline constexpr int kLogWidth = 160;

// The same in the forms that CI services show. Texts come from traces, so all of them are escaped.
//
//   fmt::print("{}", github_annotations(options, found, report));
//   fmt::print("{}", pull_request_comment(report));

inline constexpr std::size_t kCommentLines = 60;

// Returns Markdown of at most kCommentLines lines: the tables get as many rows as there is room
// for, and a note says so.
std::string pull_request_comment(const Report& report);

// Returns workflow commands of GitHub Actions, one a line: the verdict, and each gate that is not
// OK. A regression and incomparable sides are errors, an inconclusive comparison is a warning.
std::string github_annotations(const CompareOptions& options, const Comparison& found,
                               const Report& report);

// Where and when a comparison ran.
struct JUnitOrigin {
  std::string host;         // "": not known
  std::time_t seconds = 0;  // since 1970 in UTC
};

// Returns a JUnit XML document, as the schema of Apache Ant asks for, with a test case for the step
// and one for each gate. A regression is a failure, incomparable sides are an error. INCONCLUSIVE
// is a failure, too, or a skipped case if it passes.
std::string junit_report(const CompareOptions& options, const Comparison& found,
                         const Report& report, bool passes_inconclusive, const JUnitOrigin& origin);

}  // namespace traceloom
