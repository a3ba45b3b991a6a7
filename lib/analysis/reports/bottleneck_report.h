// `trace-stats bottleneck`: finds the limit of the run, its evidence, and what to do next.
#pragma once

#include "analysis/report.h"
#include "analysis/verdict/verdict.h"

namespace traceloom {

// docs/commands/bottleneck.md lists the keys of the values "verdict", "steps" and "ranks".
//
// "status" is "measured", "inferred" or "cannot tell". "n" is the number of events or steps.
// "launches" counts the pieces of "device_work" whose calls are known. "of" names the steps to
// which all shares and "roles" refer. The lengths in "steps" are those on the rank on which a step
// takes longest.
struct BottleneckAnswer {
  Report report;
  Verdict verdict;
};
BottleneckAnswer bottleneck_report(const Run& run);

}  // namespace traceloom
