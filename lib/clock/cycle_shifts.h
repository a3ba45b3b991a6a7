// The profiling cycles of a run: which syncs are stamps of one moment, and the shift of each
// rank in each cycle.
#pragma once

#include "clock/alignment.h"
#include "clock/clock_syncs.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// match_syncs: finds the clock syncs of different ranks that are stamps of one moment, and the
// difference between the clock of a rank and the common one at each of them. It uses the best
// evidence in the cycle's files: their machine's clock, the rounds of the barriers, the sync.
//
//   const SyncCycles cycles = match_syncs(files, wants_sync);
//   if (const RankSync* sync = cycles.own[file]) offset_ns = base_ns + sync->shift.shift_ns;
//
// See align() for the rules by which cycles are matched, the choice of the evidence and the meaning
// of the errors.

// The name of a cycle, and its number among the cycles of that name on the rank: files of two runs
// have the same names.
using CycleLabel = std::pair<std::string, std::size_t>;

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

struct SyncCycle;

// One stamp of one rank, and the files that carry it.
struct RankSync {
  std::int64_t ns = 0;
  std::vector<std::size_t> files = {};
  std::set<CycleLabel> labels = {};
  SyncCycle* cycle = nullptr;
  const ClockFacts* facts = nullptr;      // of the file that tells most of the clock
  const MachineClock* machine = nullptr;  // null if no other rank of the cycle shares it
  CycleShift shift = {};

  // Returns the stamp with which the cycle began, that of the rank that was placed first.
  const RankSync& first() const;
  // Returns the barriers on the rank's own clock, with the stamps of other ranks on its machine.
  CycleRounds rounds() const;
};

// A moment that ranks stamped.
struct SyncCycle {
  std::size_t number = 0;
  std::int64_t moment_ns = 0;  // on the common clock, by the stamps alone
  // True if the reference also stamped this moment; otherwise the shift comes from the neighbouring
  // cycles.
  bool is_of_reference = false;
  // True if shared cycles lead from this one to a cycle of the reference. Otherwise the difference
  // between the clocks is not known, and the shift is 0.
  bool is_linked = false;
  // The greatest distance between two ranks: the least bound of the cycle, plus 1 us.
  std::optional<std::int64_t> error_ns = {};
  std::set<std::int64_t> ranks = {};  // those that have a file in it, also one of several ranks
  std::vector<RankSync*> syncs = {};  // in the order in which their ranks were placed
  // The stamps by clock: that of a machine, or of a rank whose machine is not known.
  std::map<std::string, CycleRounds> stamps = {};
};

struct SyncCycles {
  SyncCycles() = default;
  SyncCycles(SyncCycles&&) = default;  // never copied: its parts point to each other

  std::vector<const RankSync*> own;  // the sync of each file; null if it has no usable one
  std::map<std::int64_t, std::vector<RankSync*>> of_rank;  // the usable ones, by time
  std::vector<std::size_t> bad_syncs;  // files with an unusable sync, once for each reason

  std::deque<RankSync> all_syncs;
  std::deque<SyncCycle> all_cycles;
};

// `wants_sync` marks the files that use their syncs. `files` must outlive the result.
SyncCycles match_syncs(const std::vector<ClockFacts>& files, const std::vector<bool>& wants_sync);

// Returns the sync nearest to `ns`, the earlier of two, or nullptr if there is none. `syncs` must
// be sorted by time.
const RankSync* nearest_sync(const std::vector<RankSync*>& syncs, std::int64_t ns);

}  // namespace traceloom
