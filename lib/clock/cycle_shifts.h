// CycleShifts: the difference between the clock of a rank and the common one in each of its cycles.
// It uses the best evidence in the cycle's files: their machine's clock, the rounds of the
// barriers, the sync.
//
//   CycleShifts shifts(files, cycles);
//   if (const RankSync* sync = cycles.own(file)) offset_ns = base_ns + shifts.of(*sync).shift_ns;
//
// See align() for the choice of the evidence and the meaning of the errors.
#pragma once

#include "clock/alignment.h"
#include "clock/drift.h"
#include "clock/sync_cycles.h"
#include "clock/sync_rounds.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

struct CycleShift {
  ClockMethod method = ClockMethod::sync;
  std::int64_t shift_ns = 0;  // common time = time of the rank + this
  std::optional<std::int64_t> error_ns = {};
  // The moments of the cycle at which the shift is known, ascending; one or two.
  std::vector<SyncPoint> points = {};
  // The point at the end of the cycle if the clock was set back to before `points`.
  std::optional<SyncPoint> set_back = {};
  std::string bad_rounds = {};  // why existing rounds are not used; empty if none were refused

  // True if the clock was set between the beginning and the end of the cycle.
  bool was_set() const;
};

class CycleShifts {
 public:
  // `files` and `cycles` must outlive the object.
  CycleShifts(const std::vector<ClockFacts>& files, const SyncCycles& cycles);

  // `sync` must belong to `cycles`.
  const CycleShift& of(const RankSync& sync) const { return shifts_.at(&sync); }
  // Returns the stamps on the rank's own clock, including those of other ranks on its machine.
  CycleRounds stamps_on(const RankSync& sync) const;

 private:
  // The stamps of a cycle by clock: that of a machine, or of a rank whose machine is not known.
  using StampsOfClock = std::map<std::string, CycleRounds>;

  void place_rank(std::int64_t rank);
  void settle_first(const RankSync& first);
  CycleShift first_shift(const RankSync& sync, const std::vector<const RankSync*>& found) const;
  std::optional<SyncPoint> on_line(const RankSync& sync,
                                   const std::vector<const RankSync*>& found) const;
  CycleShift shift_of(const RankSync& sync) const;
  CycleShift by_sync(const RankSync& sync) const;
  std::optional<CycleShift> by_machine(const RankSync& sync) const;
  bool by_rounds(const RankSync& sync, CycleShift& shift) const;
  std::optional<SyncPoint> point(const RankSync& sync, SyncRounds CycleRounds::*group,
                                 std::string& bad_rounds) const;

  void gather_stamps(const RankSync& first);
  StampsOfClock stamps_of(const RankSync& first) const;
  const ClockFacts& facts_of(const RankSync& sync) const;
  const MachineClock* machine_of(const RankSync& sync) const;
  std::string clock_of(const RankSync& sync) const;
  ClockRange ahead_of_clock(const RankSync& sync) const;

  const std::vector<ClockFacts>& files_;
  const SyncCycles& cycles_;
  std::map<const RankSync*, CycleShift> shifts_;
  std::map<std::size_t, StampsOfClock> stamps_;  // keyed by cycle
  // (cycle, machine) pairs that must not be used
  std::set<std::pair<std::size_t, std::string>> no_machines_;
};

}  // namespace traceloom
