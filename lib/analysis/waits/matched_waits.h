// MatchedWaits: how long ranks waited in collectives for the one that came last, step by step.
//
//   if (auto waits = find_matched_waits(run, roles, places)) use(waits->wait_ns[rank][step]);
//
// Works on durations, so that clocks need not agree: all leave a collective together, the one that
// spent least in it came last, and what another spent beyond that was waiting, in the beginning of
// its part. What a rank waits in several at a time counts once. What its own device work hides of
// that, which has to be done anyway, counts as far as it makes the rank's exposed communication
// longer than that of the rank it waits for (exposed_communication.h): the collectives behind it
// come later.
//
// A rank that came last since it had waited for others itself delays nobody by that: what it waited
// more than the other since both were in a collective together is not its delay. Nor is anything
// when all of the collective wait for others later in the step, a quarter as long and more: without
// the delay they would wait for these.
#pragma once

#include "analysis/waits/rank_waits.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {

using WaitMatrix = std::vector<std::vector<std::int64_t>>;  // [rank][step]

// A collective belongs to the step in which it began on the rank that came last.
struct MatchedWaits {
  WaitMatrix wait_ns;
  WaitMatrix delay_ns;  // what the others waited, each of them at least, for this rank
};

// Of collectives that all ranks of their group have and in which all wait for all: in a broadcast,
// a reduce, a gather or a scatter some leave before the last one comes. None when on some rank less
// than half of the time in communication is in such, or ranks differ by a tenth of the steps in the
// others: then they tell too little.
std::optional<MatchedWaits> find_matched_waits(const Run& run, const std::vector<RankRoles>& roles,
                                               const StepPlaces& places);

}  // namespace traceloom
