// MergedCycle: a profiling cycle in a trace that a merge of ours wrote. Clocks drift from cycle to
// cycle, so a later merge has to place each cycle by its own sync.
//
//   const auto cycles = read_cycles(traceloom);      // reads otherData.traceloom
#pragma once

#include "clock/alignment.h"
#include "clock/sync_rounds.h"
#include "identity/evidence/start_times.h"
#include "json/json_document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// All times are on the clock of the trace, that of its base.
struct MergedCycle {
  std::string name;           // as in ClockFacts; may be empty
  std::int64_t sync_us = 0;   // the moment that its ranks stamped
  std::int64_t first_ns = 0;  // first event of the cycle, which lasts until the next cycle begins
  std::int64_t last_ns = 0;   // last event of the cycle
  std::optional<std::int64_t> error_bound_us = {};  // the shortest sync of a rank
  // The cycle's barriers if our recorder stamped them, as in FileClock.
  CycleRounds rounds = {};

  template <typename Wire>
  void wire(Wire& wire) {
    wire(name, sync_us, first_ns, last_ns, error_bound_us, rounds);
  }
  // True if the cycle has more evidence than the sync of the file, which every merge uses anyway.
  bool is_worth_telling() const { return !name.empty() || !rounds.empty(); }
  bool operator==(const MergedCycle&) const = default;
};

// Reads the cycles from otherData.traceloom, sorted by first_ns. The list is empty if there are
// none; nullopt means that they are impossible.
std::optional<std::vector<MergedCycle>> read_cycles(JsonValue traceloom);
// Returns the cycles of a merge: the moments by which its files were placed. `starts` holds the
// times of the events; all vectors have one entry a file. A file without a sync belongs to the
// cycle in which it ends.
std::vector<MergedCycle> find_cycles(const std::vector<ClockFacts>& files,
                                     const std::vector<FileClock>& clocks,
                                     const std::vector<StartTimes>& starts);

// A part of a file that is aligned like a file.
struct FilePart {
  ClockFacts facts;
  StartTimes starts;
};
// Returns one part for each cycle of a file, or the file itself if it has none.
std::vector<FilePart> parts_of(const ClockFacts& file, const StartTimes& starts,
                               const std::vector<MergedCycle>& cycles);
// Joins the clocks of parts_of() into one. Its offset and drift are those of the first cycle, its
// error is the largest of all.
FileClock join_parts(const ClockFacts& file, const std::vector<MergedCycle>& cycles,
                     std::vector<FileClock> parts);

}  // namespace traceloom
