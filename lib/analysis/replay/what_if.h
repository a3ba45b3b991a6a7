// What a repair would gain for the whole job: its network (network.h) is replayed step by step with
// the durations that the repair would leave.
//
//   const WhatIf found = find_what_if(run, {});
//   for (const Gain& gain : found.singles) use(gain.repairs.front().text(), gain.gain_ns);
//   for (const Gain& odd : find_job_gains(run).odd()) use(odd.repairs.front().whom());
//
// A repair makes a rank like the others of its stage, a stage like the other stages, a link or a
// group like the others of its kind, or takes something away. What it gains is the replayed mean
// step less the one with the repair. Gains of several repairs are never added: they are replayed
// together.
#pragma once

#include "analysis/replay/gains.h"

#include <vector>

namespace traceloom {

struct WhatIfRequest {
  std::vector<Repair> set = {};  // repairs that are made together; without any: a list of all
  bool path_only = false;        // find the longest way through all steps, and no gains
};

WhatIf find_what_if(const Run& run, const WhatIfRequest& request);

// Returns what the job would gain by each repair, and by pairs. It is found once for a run.
const WhatIf& find_job_gains(const Run& run);

}  // namespace traceloom
