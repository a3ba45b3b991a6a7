// The report of a comparison for people and programs, with its gates and its slow steps.
#pragma once

#include "analysis/report.h"
#include "comparison/comparison.h"
#include "comparison/judge_sides.h"
#include "table/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

// gate_table: the gates of a comparison as a table, one row a gate.
//
//   report.tables.push_back({"gates", "Gates", gate_table(options.gates, found.gates)});

Table gate_table(const std::vector<MetricGate>& gates, const std::vector<MetricAnswer>& answers);

// SlowSteps: the steps of both sides that are much longer than the others of their capture. The
// verdict leaves them out, however many there are, so the report has to count them.
//
//   const SlowSteps slow(sides, found.looks);
//   if (slow.has_any()) report.headline.push_back(slow.line());

class SlowSteps {
 public:
  // Counts the captures of the first look, and with two looks those of the second.
  SlowSteps(const ComparedSides& sides, int looks);

  bool has_any() const { return base_.slow + changed_.slow > 0; }
  std::string line() const;
  std::string json() const;

 private:
  struct Count {
    std::size_t slow = 0;
    std::size_t all = 0;  // without the first of each capture

    void add(const std::vector<Capture>& captures);
  };

  Count base_;
  Count changed_;
};

// compare_report: shows a comparison to people and programs.
//
//   const Report report = compare_report(sides, options, compare(sides, options));
//   fmt::print("{}", render_report(report, TableFormat::text, {}));

// The caller fills in Report::files.
Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found);

}  // namespace traceloom
