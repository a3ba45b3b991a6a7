// `trace-stats tree`: where in the code the time goes, by thread.
#pragma once

#include "analysis/report.h"
#include "analysis/work/call_tree.h"

#include <cstddef>
#include <string>

namespace traceloom {

enum class TreeMetric : std::uint8_t { host, device };

struct TreeReportOptions {
  TreeOptions tree = {};
  TreeMetric metric = TreeMetric::host;  // what siblings are sorted by, and what is folded
  // Of what is shown: of all host, or of all device time. Frames of Python whose own time is less
  // and that have one child are passed over.
  double min_share = 0.01;
  std::size_t depth = 0;  // of what is shown, roots are 1; 0: all
};

// JSON: "rows": [{"id","parent","rank","thread","depth","kind","host_share","host_total_ns",
// "host_self_ns","device_share","device_total_ns","device_self_ns","count","name"}], a parent
// before its children, which are sorted by the total of the metric. "totals": {"host_ns",
// "device_ns","nodes","hidden","crossings"}: hidden are nodes that the limits leave
// out.
Report tree_report(const Run& run, const TreeReportOptions& options);

// A line a stack that has time of its own, "rank 0, thread 7;a;b 1200", in nanoseconds, ascending.
// A ';' in a name becomes ':', a control character a space. Without limits: the numbers add up to
// all time.
std::string folded_stacks(const Run& run, const TreeReportOptions& options);

}  // namespace traceloom
