// `trace-stats host`: shows the state of the machine during the training, and while the loop waited
// for data.
#pragma once

#include "analysis/report.h"
#include "select/label_filter.h"

#include <optional>

namespace traceloom {

struct HostOptions {
  bool by_rank = false;
  bool all = false;  // include counters that are always 0
  // The spans of the host whose names it matches replace the wait for data.
  std::optional<NamePattern> during = {};
};

// JSON: "rows": [{"counter","process","unit","kind","ranks","samples","mean","least","p50","p90",
// "p99","most","during","elsewhere"}], with "rank" first where rows are by rank. "kind" is level,
// or rate of what counts from some beginning. "during": the mean while the rank waited for its
// data, or while what --during names ran; "elsewhere": in the rest of its steps. Both weigh a value
// by how much of its time was so. The run must have been read with samples.
Report host_report(const Run& run, const HostOptions& options);

}  // namespace traceloom
