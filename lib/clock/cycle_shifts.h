// The profiling cycles of a run: which syncs are stamps of one moment, and the shift of each
// rank in each cycle.
#pragma once

#include "base/arithmetic.h"
#include "clock/alignment.h"
#include "clock/clock_syncs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// SyncCycles: finds the clock syncs of different ranks that are stamps of one moment.
//
//   SyncCycles cycles(files, wants_sync);
//   if (const RankSync* sync = cycles.own(file)) offset_ns = base_ns + cycles.shift_ns(*sync);
//
// See align() for the rules by which cycles are matched.

// Returns nullopt for a file without events.
inline std::optional<bool> shows_unix_time(const ClockFacts& file) {
  if (!file.first_ns) return std::nullopt;
  return is_unix_time(saturating_add(*file.first_ns, file.base_ns.value_or(0)));
}

// The name of a cycle, and its number among the cycles of that name on the rank: files of two runs
// have the same names.
using CycleLabel = std::pair<std::string, std::size_t>;

// One stamp of one rank, and the files that carry it.
struct RankSync {
  std::int64_t ns = 0;
  std::vector<std::size_t> files;
  std::set<CycleLabel> labels;
  std::size_t cycle = 0;
  bool is_placed = false;
};

class SyncCycles {
 public:
  // `wants_sync` marks the files that use their syncs. `files` must outlive the object.
  SyncCycles(const std::vector<ClockFacts>& files, const std::vector<bool>& wants_sync);
  SyncCycles(const SyncCycles&) = delete;
  SyncCycles& operator=(const SyncCycles&) = delete;

  // Returns the sync of a file, or nullptr if it has no usable one.
  const RankSync* own(std::size_t file) const { return own_[file]; }
  // Returns the sync of its rank that a file without one of its own uses: of the same cycle,
  // otherwise the nearest in time. Returns nullptr if the rank has none.
  const RankSync* of_rank(std::size_t file) const;
  // Returns the usable syncs of a rank, by time.
  const std::vector<const RankSync*>& of(std::int64_t rank) const;
  // Files with an unusable sync, listed once for each reason.
  const std::vector<std::size_t>& bad_syncs() const { return bad_syncs_; }

  // Common time = time of the rank + this, at the sync, by the stamp alone.
  std::int64_t shift_ns(const RankSync& sync) const {
    return cycles_[sync.cycle].moment_ns - sync.ns;
  }
  // Returns the stamp with which the cycle began, that of the first of ranks() in it.
  const RankSync& first_of(const RankSync& sync) const {
    return *cycles_[sync.cycle].syncs.front();
  }
  // Returns all stamps of the cycle, in the order of ranks().
  const std::vector<const RankSync*>& all_of(const RankSync& sync) const {
    return cycles_[sync.cycle].syncs;
  }
  // Returns all ranks with a sync. Each comes after the ranks through which its cycles were found,
  // otherwise in ascending order.
  const std::vector<std::int64_t>& ranks() const { return ranks_; }
  // Returns the greatest distance between two ranks: the least bound of the cycle, plus 1 us.
  std::optional<std::int64_t> error_ns(const RankSync& sync) const;
  // True if the reference also stamped this moment; otherwise the shift comes from the neighbouring
  // cycles.
  bool is_of_reference(const RankSync& sync) const { return cycles_[sync.cycle].is_of_reference; }
  // True if shared cycles lead from this one to a cycle of the reference. Otherwise the difference
  // between the clocks is not known, and the shift is 0.
  bool is_linked(const RankSync& sync) const { return cycles_[sync.cycle].is_linked; }

 private:
  // A moment that ranks stamped, on the common clock.
  struct Cycle {
    std::int64_t moment_ns = 0;
    std::optional<std::int64_t> bound_us;
    bool is_of_reference = false;
    bool is_linked = false;
    std::set<std::int64_t> ranks = {};  // those that have a file in it, also one of several ranks
    std::vector<const RankSync*> syncs = {};
  };

  void gather_syncs(const std::vector<bool>& wants_sync);
  void place_all();
  void know(const CycleLabel& label, std::size_t cycle);
  void place(std::vector<RankSync>& syncs);
  bool find_by_label(std::vector<RankSync>& syncs) const;
  bool may_go_by_order(const std::vector<RankSync>& syncs) const;
  void find_by_order(std::vector<RankSync>& syncs);
  std::set<std::int64_t> ranks_with(const RankSync& sync) const;
  void add_cycle(RankSync& sync, std::int64_t shift_ns, bool is_of_reference, bool is_linked);
  void gather_cycles();
  static std::vector<const RankSync*> placed(const std::vector<RankSync>& syncs);

  const std::vector<ClockFacts>& files_;
  std::map<std::int64_t, std::vector<RankSync>> syncs_of_rank_;  // keyed by rank; sorted by time
  std::map<std::int64_t, std::vector<const RankSync*>> placed_of_rank_;
  std::vector<const RankSync*> own_;  // sync of each file
  std::vector<Cycle> cycles_;
  std::map<CycleLabel, std::size_t> cycle_of_label_;
  std::map<CycleLabel, std::vector<std::int64_t>> ranks_of_label_;
  std::set<std::int64_t> waiting_;  // ranks that have no place yet
  std::set<std::int64_t> linked_;   // waiting ranks that have a label of cycle_of_label_
  bool has_vague_cycle_ = false;    // a known cycle has no name of a batch
  std::vector<std::int64_t> ranks_;
  std::vector<std::size_t> bad_syncs_;
};

// Returns the sync nearest to `ns`, the earlier of two, or nullptr if there is none. `syncs` must
// be sorted by time.
const RankSync* nearest_sync(const std::vector<const RankSync*>& syncs, std::int64_t ns);

// CycleShifts: the difference between the clock of a rank and the common one in each of its cycles.
// It uses the best evidence in the cycle's files: their machine's clock, the rounds of the
// barriers, the sync.
//
//   CycleShifts shifts(files, cycles);
//   if (const RankSync* sync = cycles.own(file)) offset_ns = base_ns + shifts.of(*sync).shift_ns;
//
// See align() for the choice of the evidence and the meaning of the errors.

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
