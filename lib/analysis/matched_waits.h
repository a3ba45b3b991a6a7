// MatchedWaits: how long ranks waited in collectives for the one that came last, step by step.
//
//   if (auto waits = find_matched_waits(run, roles, places)) use(waits->wait_ns[rank][step]);
//
// Works on durations, so that clocks need not agree: all leave a collective together, the one that
// spent least in it came last, and what another spent beyond that was waiting, in the beginning of
// its part. What a rank waits in several at a time counts once. What its own device work hides of
// that, which has to be done anyway, counts as far as it makes the rank's exposed communication in
// the step longer than that of others: the collectives behind it come later.
#pragma once

#include "analysis/step_roles.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

// The ranks and steps to compare.
struct StepPlaces {
  const std::vector<std::size_t>& ranks;                      // indices into Run::ranks
  const std::vector<std::vector<std::uint32_t>>& step_index;  // [rank][step]: index in RankRoles
};

using WaitMatrix = std::vector<std::vector<std::int64_t>>;  // [rank][step]

// A collective belongs to the step in which it began on the rank that came last.
struct MatchedWaits {
  WaitMatrix wait_ns;
  WaitMatrix delay_ns;  // what the others waited, each of them at least, for this rank
};

// Of collectives that all ranks of their group have. None when on some rank less than half of the
// time in communication is in such: then they tell too little. `together_ns`: how much longer the
// exposed communication of a rank is in a step than that of the rank with the least.
std::optional<MatchedWaits> find_matched_waits(const Run& run, const std::vector<RankRoles>& roles,
                                               const StepPlaces& places,
                                               const WaitMatrix& together_ns);

}  // namespace traceloom
