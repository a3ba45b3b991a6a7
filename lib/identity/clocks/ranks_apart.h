// check_ranks_apart: finds ranks whose events are at another time than those of the lowest rank.
//
//   check_ranks_apart(evidence, facts, starts, clocks);
//   // "ranks 5-7 begin 90.000 s after rank 0; trace-merge --offset 5=... --offset 6=... ..."
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"

#include <cstdint>
#include <set>
#include <vector>

namespace traceloom {

// The ranks of which something says that they belong to one run: a set for each world size and each
// process group that several ranks name.
std::vector<std::set<std::int64_t>> find_runs(const std::vector<FileEvidence>& evidence,
                                              const std::vector<ClockFacts>& facts);

// Such ranks were recorded at another time, or their clocks are wrong. Ranks whose times overlap,
// directly or through other ranks, stand together (as those of one host do). Each set of ranks that
// does not stand with the lowest rank is counted as ranks_apart, with the number of its ranks, for
// the first file of its lowest rank, if all of this is true:
// - Only an absolute time (a base time) places its ranks, and no collective does.
// - A world size or a process group says that a rank of it belongs to a run of several ranks:
//   traces of different runs may be merged on purpose.
// - It has several events: a single moment proves nothing.
void check_ranks_apart(const std::vector<FileEvidence>& evidence,
                       const std::vector<ClockFacts>& facts, const std::vector<StartTimes>& starts,
                       std::vector<FileClock>& clocks);

}  // namespace traceloom
