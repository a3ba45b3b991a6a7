// plan_clocks: computes the offset of each file's clock from the files' evidence, by one rule for
// all commands.
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
  std::vector<FileClock> clocks;    // one an input; its problems include those counted here
  std::vector<MergedCycle> cycles;  // cycles of all inputs together, on the common clock
  std::int64_t origin_ns = 0;       // the earliest event on the common clock, floored to 1 us
};

// All vectors have one entry an input; `starts` are the times of its events. The plan follows these
// rules:
// 1. A base that a file lacks is restored if possible (lost_base.h), and counted as base_restored
//    or base_guessed.
// 2. The sync of a file is its first clock_sync_timestamp_us event, otherwise the top-level key of
//    that name.
// 3. A merged file uses the sync of its lowest rank, so that the merges of several nodes can be
//    aligned. If it names its cycles, each cycle uses its own sync.
// 4. Times further apart than int64 reaches (292 years) cannot be on one time line. In each file,
//    and then in all files together, the time line with the most events stays; clocks map no other
//    time.
//
// Oddities in this evidence are counted: see clock_checks.h.
ClockPlan plan_clocks(const std::vector<Input>& inputs, const std::vector<FileEvidence>& evidence,
                      const std::vector<FileRank>& ranks, const std::vector<StartTimes>& starts,
                      const ClockOptions& options = {});

// Returns the earliest start of all files on the common clock, floored to a whole microsecond (so
// that microsecond inputs give microsecond outputs), or 0 if no file has an event. A start beyond
// +-2^63 ns is left out.
std::int64_t common_origin_ns(const std::vector<StartTimes>& starts,
                              const std::vector<FileClock>& clocks);

}  // namespace traceloom
