// WhatIf: what a job would gain by repairs, and what holds it up.
//
//   const WhatIf& job = find_job_gains(run);              // what_if.h
//   for (const Gain& gain : job.odd()) text += job.words(gain);
//
// A gain is the replayed mean step less the one with the repairs; it is that of all ranks.
#pragma once

#include "analysis/replay/repair.h"
#include "analysis/replay/replay.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct Gain {
  std::vector<Repair> repairs;
  std::int64_t step_ns = 0;  // mean step with the repairs
  std::int64_t gain_ns = 0;  // of the mean step
  // The widest of: the quartiles of the steps' gains, the gains with the quartiles of the others'
  // times instead of their median, and what the replay without repairs is off.
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::int64_t often_ns = 0;  // three quarters of the steps gain at least that
  double steps_share = 0;     // of the steps, those that become shorter by a tenth
  // A rank in it is as often faster than those like it as slower, as batches of different lengths
  // make it: less than half of the differences of its pieces (of few steps 80 %) remains in their
  // sum.
  bool varies = false;

  // Return Repair::whom(), words() and text() of all repairs; ranks are named together.
  std::string whom() const;
  std::string words() const;
  std::string set() const;
};

struct WhatIf {
  std::string refusal;  // why there is no answer; all else but coverage is then empty
  std::size_t steps = 0;
  std::int64_t step_ns = 0;      // mean step, as recorded
  std::int64_t replayed_ns = 0;  // mean step of the replay without repairs
  double launches_share = 1;     // JobWork::launches_share()
  // The part of the time in communication with all its ranks; none where nobody communicates.
  std::optional<double> coverage;
  // Time a step and rank in front of device work for which no reason is known. It stays as it is in
  // the replay, so that gains are too small if it is much.
  std::int64_t unexplained_ns = 0;
  std::vector<Gain> asked;             // WhatIfRequest::set
  std::vector<Gain> singles;           // by gain
  std::vector<Gain> pairs;             // two repairs, or all ranks that are steadily slower
  std::int64_t longest_kernel_ns = 0;  // gain without the kernel that takes longest
  // The longest way through the steps, by class.
  ByEnum<PathClass, std::int64_t> path_ns;
  std::vector<PathPiece> path;  // of all counted steps, in time order; only if it is asked for

  // Returns why gains are not those of the job; empty if they are: nothing is refused, 98 % of the
  // launches are known, at most a 50th of the step has no reason or is off, and the longest way is
  // not mostly the host's, whose waits may not be recorded.
  std::string doubt() const;
  // Returns what holds up the job beyond those like it, by gain; nothing if there is a doubt:
  // 1. each rank, stage, link and group that gains 1 % of the step, and half of that in three
  //    quarters of the steps: where chance decides who is last, that is next to nothing; no rank
  //    that `varies`;
  // 2. each of `pairs` that gains 1 % more than each alone, as two slow ranks of different stages
  //    do;
  // 3. without these, the only one that gains 1 % in the mean and 10 % of at least two steps.
  std::vector<Gain> odd() const;
  bool is_steady(const Gain& gain) const { return 2 * gain.often_ns >= gain.gain_ns; }
  // Returns "rank 5 like the others of its stage would gain 11.8 ms of 64.5 ms a step (18.3 %; 11.7
  // ms to 12.0 ms)".
  std::string words(const Gain& gain) const;
  // Returns the most that one of the repairs gains alone, at least 0.
  std::int64_t best_alone_ns(const Gain& gain) const;
  // Returns the gain of the first repair of that kind, at least 0.
  std::int64_t gain_ns(Repair::Kind kind) const;
};

}  // namespace traceloom
