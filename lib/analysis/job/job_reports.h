// The answers of trace-stats' commands about a job as a whole, each a function of the run
// (x_report.cpp). Their keys are in docs/commands/.
#pragma once

#include "analysis/mesh/mesh.h"
#include "analysis/replay/what_if.h"
#include "analysis/report.h"
#include "run/run.h"
#include "select/selection.h"

#include <vector>

namespace traceloom {

// `trace-stats what-if`: shows what the job would gain if operations were as fast as their like.
struct WhatIfOptions {
  std::vector<NumberRange> without_steps = {};
};
// Throws Error for a coarse time line that lacks operations.
Report what_if_report(const Run& run, const WhatIfOptions& options, const WhatIfRequest& request);

// The same for a job whose ranks recorded their devices: it is replayed.
Report replay_report(const Run& run, const WhatIfRequest& request);
// `trace-stats mesh`: shows how the ranks of a job share its work, and what their groups exchange.
Report mesh_report(const Run& run);
// Adds what is missing of a mesh, and why it is doubtful.
void note_mesh(const Mesh& mesh, Report& report);

// `trace-stats bubbles`: shows what the ranks and stages of a job spend steps on, and what they
// wait for.
Report bubbles_report(const Run& run);

}  // namespace traceloom
