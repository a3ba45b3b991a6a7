// The waits of ranks for the last one in collectives, from what two ranks have of the same
// steps.
#pragma once

#include "analysis/collectives/collectives.h"
#include "analysis/waits/rank_waits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

// StepFinder: finds the times of the steps that all ranks have, on one of the ranks.
//
//   const StepFinder steps(roles[rank], waits.step_index[rank]);
//   if (const auto step = steps.step_at(span.start_ns)) use(*step);

class StepFinder {
 public:
  // `index` is as in RankWaits::step_index.
  StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index);

  std::optional<std::size_t> step_at(std::int64_t ns) const;
  const Interval& time(std::size_t step) const { return times_[step]; }
  // Returns the number of instants (ns) of the set in each step.
  std::vector<std::int64_t> totals(const Intervals& set) const;

 private:
  Intervals times_;    // indexed by step
  Intervals windows_;  // the same, sorted by begin
  std::vector<std::size_t> steps_;
};

// MatchedWaits: how long ranks waited in collectives for the rank that came last, step by step.
//
//   if (auto waits = find_matched_waits(match_collectives(run), roles, places))
//   use(waits->wait_ns[rank][step]);
//
// It uses durations, so clocks need not agree. All ranks leave a collective together, so the rank
// that spent the least time in it came last. The additional time of every other rank was waiting,
// at the begin of its part. Waits of a rank in several collectives at the same time count once. The
// part of a wait that the rank's own device work hides, which has to be done anyway, counts as far
// as it makes the rank's exposed communication longer than that of the rank for which it waits,
// because later collectives start later.
//
// A rank that came last because it had waited for others itself is not blamed: the time that it
// waited more than the other rank since their last common collective is not its delay. A delay also
// does not count if all ranks of the collective wait for others later in the step at least a
// quarter as long: without the delay they would wait for those.

using WaitMatrix = std::vector<std::vector<std::int64_t>>;  // [rank][step]

// A collective belongs to the step in which it began on the rank that came last.
struct MatchedWaits {
  WaitMatrix wait_ns;
  WaitMatrix delay_ns;  // the least time that any other rank waited for this rank
};

// `waits` has the ranks and steps to compare. Uses collectives that all ranks of their group have
// and in which all wait for all: in a broadcast, a reduce, a gather or a scatter some ranks leave
// before the last one comes. Returns nullopt if the data prove too little: on some rank such
// collectives take less than half of the time in communication, or ranks differ by a tenth of the
// steps in the other collectives.
std::optional<MatchedWaits> find_matched_waits(const MatchedCollectives& collectives,
                                               const std::vector<RankRoles>& roles,
                                               const RankWaits& waits);

}  // namespace traceloom
