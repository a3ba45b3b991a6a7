// The alignment of clocks: by which evidence it is made, the offset that it gives each file,
// and the possible error.
#pragma once

#include "base/problems.h"
#include "clock/alignment_words.h"
#include "clock/clock_syncs.h"
#include "clock/time_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// align: computes the offset from each file's time to the common clock, from the evidence in the
// files.
//
//   std::vector<ClockFacts> facts = {{.rank = 0, .sync_us = 1000}, {.rank = 1, .sync_us = 4000}};
//   align(facts)[1].offset_ns == -3'000'000        // rank 1 reads 3 ms more at the same moment
//
// The arithmetic is in whole nanoseconds only. A clock sync is a moment that all ranks stamped
// between two barriers (Composer: clock_sync_timestamp_us). The sync of each file's own cycle gives
// its shift:
//   offset = base + sync(reference, same cycle) - sync(file)

// The evidence about one file's clock. Each member has an initializer, so that braces may leave any
// of them out without a warning.
struct ClockFacts {
  std::int64_t rank = 0;
  std::optional<std::int64_t> base_ns = {};  // Unix nanoseconds of the file's ts 0
  std::optional<std::int64_t> sync_us = {};  // microseconds of the sync's moment, on the clock of
                                             // base_ns or of ts
  std::optional<std::int64_t> error_bound_us = {};  // length of the sync on this rank
  // The earliest event in the file's own time. If the file has Unix times and no base, only those
  // count.
  std::optional<std::int64_t> first_ns = {};
  std::optional<std::int64_t> last_ns = {};  // the latest event, likewise
  // The base of the relative times in a file that mixes Unix times with relative ones (TimeMap).
  // All other members describe the Unix times.
  std::optional<std::int64_t> relative_base_ns = {};
  // The barriers of the cycle and the machine's clock, from our recorder; both on the clock of
  // base_ns or of ts.
  CycleRounds rounds = {};
  std::optional<MachineClock> machine = {};
  std::vector<SyncEvent> sync_events = {};  // in the time of the file
  std::string cycle = {};  // the profiling cycle, equal on all ranks ("ep0-ba12"); may be empty
  // True if an earlier merge aligned all ranks in the file to the lowest one, which is `rank` and
  // whose sync the file has.
  bool is_merged = false;
  std::vector<std::int64_t> ranks = {};  // of a merged file: all that it names
};

struct FileClock : ClockSummary {
  TimeMap times = TimeMap();  // from file time to common time, for every event
  // The cycle of a file that uses a sync of its own cycle; equal for files whose syncs stamp one
  // moment.
  std::optional<std::size_t> cycle;
  // For the file by which the others of its cycle are placed: the times at which its clock entered
  // and left the barriers, on the common clock, with the stamps of all ranks that share the
  // machine.
  CycleRounds rounds;
  ProblemCounts problems;  // no_clock; bad_sync; bad_rounds; clock_step
};

// Returns one FileClock a file.
//
// The reference is the lowest rank that has a sync; its files are shifted only by their base. The
// cycles of other ranks are matched with known cycles, those of ranks that already have a place:
// 1. A cycle matches a known cycle with the same name (`cycle`). Ranks that share a cycle with
//    placed ranks come first.
// 2. Otherwise cycles are matched by the order of the syncs, unless all cycles have the names that
//    Composer gives ("ep0-ba12"): other names then mean other moments.
// 3. A cycle that the reference lacks becomes a new known cycle for later ranks. It is placed
//    between the rank's neighbouring cycles, or by the nearest one if the clock was set between
//    them or one of them is missing. So two ranks stay aligned to each other if the reference has
//    lost a file.
// 4. If no shared cycles lead from a rank to the reference, the first such rank is shifted only by
//    its base, and no_clock is counted for all files that depend on it.
//
// Within a cycle, ranks use the rounds of its barriers if they stamped them (clock_syncs.h):
// - All ranks of a machine count as one. Ranks on the machine of the reference use that machine's
//   clock, with the lead of each file's clock over it; they are not shifted if the two leads may be
//   equal.
// - Rounds that contradict each other are counted as bad_rounds, and the sync is used instead.
// - With rounds at the beginning and at the end of a cycle, the shift is the middle of everything
//   that either allows, so its error holds for a clock that drifts in between.
// - Ranks of one machine whose rounds show that they did not share a clock count as ranks of
//   several machines.
//
// Drift is computed from the moments that the reference also stamped: between two of them the clock
// of a rank may change by 500 ppm of the time between them. If the errors of the syncs are larger,
// the drift is not known. If the clock jumps further than drift and errors allow, clock_step is
// counted for the files of the later sync. In both cases nothing is interpolated.
//
// A file without a sync uses, in this order:
// 1. sync_events that it shares with other files: it is aligned to the nearest file with a clock
//    sync (by the errors of the stamps), otherwise to the first file with a base or Unix times.
//    Without either it is aligned to the first of them, but only if no other file has a clock.
// 2. the sync of its cycle, otherwise the nearest one of its rank. If it names another cycle than
//    that sync's, it uses the point on the line between the syncs at its first event. A sync is not
//    used if only one of the two files has Unix times.
//
// no_clock is counted for a file without evidence if another file has some, and for a file with a
// base or Unix ts whose rank has no sync while other ranks have some: the difference between the
// clocks is then not known. bad_sync is counted for a sync that no clock shows (beyond 2^62 ns, the
// year 2116) or that does not fit together with the base; such a sync counts as missing.
std::vector<FileClock> align(const std::vector<ClockFacts>& files,
                             const ClockOptions& options = {});

// drift_error_ns: the possible error of a file's events if its shift is known at only one moment.
//
//   std::int64_t more_ns = drift_error_ns(facts, {.from_ns = sync_ns, .to_ns = sync_ns});
//
// The error at the sync grows with the distance of an event from it: a drift of 100 ppm makes 10 ms
// in 100 s.

// The drift between two clocks that are each good for 100 ppm, like quartz.
inline constexpr int kWorstDriftPpm = 200;

// The moments at which a shift is known. Times are on the clock of the rank: the time of its files
// plus their base.
struct KnownShift {
  // The moment, or a range of moments that includes it.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t shift_ns = 0;  // used if there is a line
  // The known drift: the shift between syncs; nullptr if it is not known.
  std::shared_ptr<const TimeMap::Line> line = nullptr;
};

// Uses the moments that the file shares with others, without finding out which of them placed it.
KnownShift known_by_events(const ClockFacts& file);

// Returns the most by which the shift at one of the file's events may differ from that at the known
// moment. It follows the line as far as that reaches; beyond it, or without a line, it uses
// kWorstDriftPpm. It is 0 for a file without events.
std::int64_t drift_error_ns(const ClockFacts& file, const KnownShift& known);

}  // namespace traceloom
