// Runs of a rank: recordings of a job that was begun again, whose steps have the numbers of earlier
// ones.
//
//   RunCounter runs;
//   for (Step& step : steps) step.run = runs.run_of(step);    // 0, 0, 0, 1, 1
//   align_runs(ranks, common_clock);
//
// A run begins with a step whose number, of Composer in its epoch, is not larger than that of the
// step before it. So the files of a rank may be merged or not. Without numbers nothing tells.
#pragma once

#include "run/steps.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct RankEvents;

class RunCounter {
 public:
  // Of steps in the order of time.
  std::uint32_t run_of(const Step& step);

 private:
  StepKey before_;
};

// Where ranks have different runs, as when a file of one is not there: those of one time get one
// number, by the common clock. Without it the n-th run of a rank stays the n-th.
void align_runs(std::vector<RankEvents>& ranks, bool common_clock);

}  // namespace traceloom
