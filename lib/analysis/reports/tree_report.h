// `trace-stats tree`: shows where in the code the time is spent, by thread.
#pragma once

#include "analysis/report.h"
#include "analysis/work/call_tree.h"

#include <cstddef>
#include <string>

namespace traceloom {

enum class TreeMetric : std::uint8_t { host, device };

struct TreeReportOptions {
  TreeOptions tree = {};
  TreeMetric metric = TreeMetric::host;  // the metric sorts siblings and folds stacks
  // Least share of a shown node in all host, or in all device time. Frames of Python with less own
  // time and only one child are skipped.
  double min_share = 0.01;
  // Depth of the shown nodes, with roots at 1; 0: all. A row sums what is deeper in a node.
  std::size_t depth = 0;
};

// A parent stands before its children, which are sorted by the total of the metric. The hidden
// nodes in "totals" are those that the limits leave out.
Report tree_report(const Run& run, const TreeReportOptions& options);

// Writes a line for each stack with time of its own, "rank 0, thread 7;a;b 1200", in nanoseconds,
// ascending. A ';' in a name becomes ':', a control character a space. The limits do not hold for
// it, so the numbers add up to all time; what is deeper than 512 frames belongs to the last of
// them.
std::string folded_stacks(const Run& run, const TreeReportOptions& options);

}  // namespace traceloom
