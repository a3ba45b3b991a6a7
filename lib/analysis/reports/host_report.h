// `trace-stats host`: shows the state of the machine during the training, and while the loop waited
// for data.
#pragma once

#include "analysis/report.h"
#include "select/selection.h"

#include <optional>

namespace traceloom {

struct HostOptions {
  bool by_rank = false;
  bool all = false;  // include counters that are always 0
  // The spans of the host whose names it matches replace the wait for data.
  std::optional<NamePattern> during = {};
};

// "kind" is level, or rate for a counter that counts from some beginning. "during" is the mean
// while the rank waited for its data, or while the spans of --during ran; "elsewhere" is the mean
// in the rest of its steps. Both weight a value by the part of its time in these moments. The run
// must have been read with samples.
Report host_report(const Run& run, const HostOptions& options);

}  // namespace traceloom
