// CycleTimes: what a filter leaves of the cycles of a merge, gathered event by event.
//
//   CycleTimes kept;
//   for (each event that stays) kept.add(plan.cycles, start_ns);      // on the common clock
//   plan.cycles = kept.left_of(plan.cycles);
#pragma once

#include "identity/evidence/merged_cycles.h"
#include "identity/evidence/start_times.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// Memory: 16 bytes a cycle. All calls must pass the same cycles.
class CycleTimes {
 public:
  void add(const std::vector<MergedCycle>& cycles, std::int64_t ns);
  void add(const CycleTimes& other);
  void clear() { *this = {}; }

  // Returns the cycles that have events, each from its first to its last event.
  std::vector<MergedCycle> left_of(const std::vector<MergedCycle>& cycles) const;
  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(times_);
  }

 private:
  void look_up(const std::vector<MergedCycle>& cycles, std::int64_t ns);

  std::vector<CommonTimes> times_;  // one a cycle, or none
  // The cycle of the latest event and its bounds: the next event is mostly of the same cycle.
  std::size_t cycle_ = 0;
  std::int64_t from_ns_ = 0;
  std::int64_t last_ns_ = -1;
};

}  // namespace traceloom
