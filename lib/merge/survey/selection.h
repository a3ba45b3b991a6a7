// The selection that a filter leaves of a merge: events, tracks, and the times of its cycles.
#pragma once

#include "identity/evidence/event_tally.h"
#include "identity/evidence/merge_notes.h"
#include "merge/plan/plan.h"
#include "scan/scan_files.h"
#include "team/team.h"

#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace traceloom {

// CycleTimes: what a filter leaves of the cycles of a merge, gathered event by event.
//
//   CycleTimes kept;
//   for (each event that stays) kept.add(plan.cycles, start_ns);      // on the common clock
//   plan.cycles = kept.left_of(plan.cycles);

// Memory: 16 bytes a cycle. All calls must pass the same cycles.
class CycleTimes {
 public:
  void add(const std::vector<MergedCycle>& cycles, std::int64_t ns);
  void add(const CycleTimes& other);
  void clear() { *this = {}; }

  // Returns the cycles that have events, each from its first to its last event.
  std::vector<MergedCycle> left_of(const std::vector<MergedCycle>& cycles) const;
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(times_); }

 private:
  std::vector<CommonTimes> times_;  // one a cycle, or none
};

// find_selection(): goes over all events with a plan, as the writer will, and finds what its filter
// leaves: which flow and async events, which tracks, and how many events.
//
//   plan.filter->set_selection(find_selection(plan, team, [&](FileVisitor& visitor) {
//     scan_files(paths, visitor, {});
//   }));

// `scan` reads the files that this process of the team will write. Takes the FilterFacts of the
// plan's surveys. Memory: what KeptEvents needs for all files, and the flow and async events of one
// file.
Selection find_selection(MergePlan& plan, Team& team,
                         const std::function<void(FileVisitor&)>& scan);

}  // namespace traceloom
