// plan_clocks: from what files say about their clocks to the offset of each. One rule for all
// commands.
//
//   std::vector<FileRank> ranks = assign_ranks(inputs, evidence);
//   ClockPlan plan = plan_clocks(inputs, evidence, ranks, starts);
//   plan.clocks[file].times.since(plan.origin_ns).map(file_ns, common_ns);
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/merged_cycles.h"
#include "identity/evidence/start_times.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct ClockPlan {
  std::vector<ClockFacts> facts;    // one an input
  std::vector<FileClock> clocks;    // one an input; its problems hold what is counted here, too
  std::vector<MergedCycle> cycles;  // of all inputs together, on the common clock
  std::int64_t origin_ns = 0;       // the earliest event on the common clock, floored to 1 us
};

// All vectors have one entry an input; `starts` are the times of its events.
//
// A base that a file lacks is found again where that can be done (lost_base.h), and counted as
// base_restored, or as base_guessed.
//
// The sync of a file is its first clock_sync_timestamp_us event, else the top-level key of that
// name. A merged file has that of its lowest rank, so that the merges of several nodes can be
// brought together; if it says its cycles, each of them goes by its own sync. What is odd about all
// that is counted: see clock_checks.h.
//
// Times further apart than int64 reaches (292 years) are on no time line together: the one that has
// most events stays, of each file and of all together, and clocks map no time that is off it.
ClockPlan plan_clocks(const std::vector<Input>& inputs, const std::vector<FileEvidence>& evidence,
                      const std::vector<FileRank>& ranks, const std::vector<StartTimes>& starts,
                      const ClockOptions& options = {});

// The earliest start of all files on the common clock, floored to a whole microsecond (so that
// microsecond inputs stay microsecond outputs); 0 when no file has an event. A start beyond
// +-2^63 ns is left out.
std::int64_t common_origin_ns(const std::vector<StartTimes>& starts,
                              const std::vector<FileClock>& clocks);

}  // namespace traceloom
