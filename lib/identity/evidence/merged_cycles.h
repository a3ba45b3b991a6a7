// MergedCycle: a profiling cycle in a trace that a merge of ours has written. Clocks drift from
// cycle to cycle, so that a later merge has to place each of them by its own sync.
//
//   const auto cycles = read_cycles(traceloom);      // what otherData.traceloom says
//   if (!cycles) problems.add(Problem::bad_cycles, 0);
//   for (const FilePart& part : parts_of(file, starts, *cycles)) facts.push_back(part.facts);
//   FileClock clock = join_parts(file, *cycles, align(facts));
#pragma once

#include "clock/alignment.h"
#include "clock/sync_rounds.h"
#include "identity/evidence/start_times.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// All times are on the clock of the trace: that of its base.
struct MergedCycle {
  std::string name;           // as in ClockFacts; may be empty
  std::int64_t sync_us = 0;   // the moment that its ranks stamped
  std::int64_t first_ns = 0;  // its first event; all from here to the next cycle's is of it
  std::int64_t last_ns = 0;   // its last one
  std::optional<std::int64_t> error_bound_us = {};  // the shortest sync of a rank
  // Its barriers, where our recorder has stamped them: those of FileClock.
  CycleRounds rounds = {};

  // Whether it says more than the sync of the file, which any merge goes by.
  bool is_worth_telling() const { return !name.empty() || !rounds.empty(); }
  bool operator==(const MergedCycle&) const = default;
};

// From otherData.traceloom, by first_ns; none where it does not say them, nullopt where it says
// what cannot be.
std::optional<std::vector<MergedCycle>> read_cycles(std::string_view traceloom);
// Those of a merge: the moments that its files were placed by. `starts` are the times of the
// events; all have one entry a file. What is in no cycle by a sync is of the one that it ends in.
std::vector<MergedCycle> find_cycles(const std::vector<ClockFacts>& files,
                                     const std::vector<FileClock>& clocks,
                                     const std::vector<StartTimes>& starts);

// What is aligned as a file.
struct FilePart {
  ClockFacts facts;
  StartTimes starts;
};
// One for each cycle of a file; the file itself where it has none.
std::vector<FilePart> parts_of(const ClockFacts& file, const StartTimes& starts,
                               const std::vector<MergedCycle>& cycles);
// What parts_of() was aligned to, as one clock. Its offset and drift are those of the first cycle,
// its error the largest of all.
FileClock join_parts(const ClockFacts& file, const std::vector<MergedCycle>& cycles,
                     std::vector<FileClock> parts);

}  // namespace traceloom
