// RunCounter: numbers the runs of a rank: recordings of a job that was started again, whose steps
// repeat the numbers of earlier steps.
//
//   RunCounter runs;
//   for (Step& step : steps) step.run = runs.run_of(step);    // 0, 0, 0, 1, 1
//   align_runs(ranks, common_clock);
//
// A run begins with a step whose number (with Composer: its number in its epoch) is not larger than
// that of the previous step. So merged and separate files of a rank give the same runs. Without
// step numbers there is only one run.
#pragma once

#include "run/steps.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct RankEvents;

class RunCounter {
 public:
  // Takes steps in time order.
  std::uint32_t run_of(const Step& step);

 private:
  StepKey before_;
};

// Makes the run numbers of ranks agree if ranks have different runs, for example because a file of
// one is missing: runs at the same time on the common clock get the same number. Without a common
// clock, the n-th run of a rank stays the n-th.
void align_runs(std::vector<RankEvents>& ranks, bool common_clock);

}  // namespace traceloom
