// Alignment: the offset that brings each file's time to the common clock, from what the files say.
//
//   std::vector<ClockFacts> facts = {{.rank = 0, .sync_us = 1000}, {.rank = 1, .sync_us = 4000}};
//   align(facts)[1].offset_ns == -3'000'000        // rank 1 reads 3 ms more at the same moment
//
// Arithmetic in whole nanoseconds only. A clock sync is a moment that all ranks stamped between two
// barriers (Composer: clock_sync_timestamp_us); each file is shifted by its own cycle's sync:
//   offset = base + sync(reference, same cycle) - sync(file)
#pragma once

#include "base/problems.h"
#include "clock/sync_events.h"
#include "clock/sync_rounds.h"
#include "clock/time_map.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// What is known of one file's clock. Each member has an initializer so that any of them can be left
// out of braces without a warning.
struct ClockFacts {
  std::int64_t rank = 0;
  std::optional<std::int64_t> base_ns = {};  // Unix ns of the file's ts 0
  std::optional<std::int64_t> sync_us = {};  // the sync's moment, on the clock of base_ns or of ts
  std::optional<std::int64_t> error_bound_us = {};  // the length of the sync on this rank
  // The earliest event, as the file has it; of Unix times if it has any and no base.
  std::optional<std::int64_t> first_ns = {};
  std::optional<std::int64_t> last_ns = {};  // the same of the latest one
  // Of a file that mixes Unix times with relative ones (TimeMap): what the latter count from. All
  // else is about the Unix times.
  std::optional<std::int64_t> relative_base_ns = {};
  // Of our recorder: the barriers of the cycle, and the machine's clock; both on the clock of
  // base_ns or of ts.
  CycleRounds rounds = {};
  std::optional<MachineClock> machine = {};
  std::vector<SyncEvent> sync_events = {};  // in the time of the file
  std::string cycle = {};  // the profiling cycle, equal on all ranks ("ep0-ba12"); may be empty
  // All ranks in it are aligned already, to the lowest one: `rank`, whose sync it has.
  bool is_merged = false;
  std::vector<std::int64_t> ranks = {};  // of a merged file: all that it names
};

enum class ClockMethod : std::uint8_t {
  sync,          // the file's own clock sync
  rounds,        // the barriers of that sync: when this rank and the others entered and left them
  same_boot,     // a clock of the machine, which the file shares with one whose place is known
  sync_of_rank,  // that of another file of its rank: of the same cycle, else the nearest in time
  sync_event,    // moments that files stamped under one id (phase c)
  collectives,   // the collectives that the rank had in common with others (survey/)
  base,          // an absolute base time
  epoch,         // ts is Unix time by its size
  merged,        // aligned by an earlier merge, and without a sync
  given,         // ClockOptions::offsets
  none,          // nothing is known, or nothing was asked for: left as it is
};
std::string_view to_string(ClockMethod method);
// By the file's own clock sync, or by what was stamped with it.
constexpr bool is_by_sync(ClockMethod method) {
  return method == ClockMethod::sync || method == ClockMethod::rounds ||
         method == ClockMethod::same_boot;
}

// What evidence is to be used.
enum class AlignBy : std::uint8_t {
  any,   // the best that a file has
  sync,  // clock syncs only
  base,  // base times only: hosts whose clocks are better than the syncs
  none,  // nothing: all times stay as they are
};
std::optional<AlignBy> parse_align_by(std::string_view name);  // "auto", "sync", "base", "none"

// What becomes of a rank with several clock syncs.
enum class DriftMode : std::uint8_t {
  constant,  // each file has the shift of its own sync; durations stay what they are
  linear,    // the shift is interpolated between neighbouring syncs, and durations with it
};
std::optional<DriftMode> parse_drift_mode(std::string_view name);  // "constant", "linear"

struct ClockOptions {
  AlignBy align_by = AlignBy::any;
  DriftMode drift = DriftMode::constant;
  // By rank: added to the times of its files (and to their base, if they have one) in place of what
  // their syncs say.
  std::map<std::int64_t, std::int64_t> offsets = {};
};

// What collectives say of a clock beside what else is known of it.
struct CollectiveEstimate {
  std::int64_t shift_ns = 0;         // by which its times come to those of the reference
  std::int64_t residual_p50_ns = 0;  // how far its collectives end from those of the others then
  std::int64_t residual_p95_ns = 0;
  std::int64_t bound_ns = 0;  // how far shift_ns may be off
  bool is_used = false;       // offset_ns has it: else the clock that it had may be right
};

struct FileClock {
  ClockMethod method = ClockMethod::none;
  // Whether its times can be compared with those of other files: not without evidence, nor where an
  // earlier merge had none and counts from the zero of its inputs.
  bool is_known = false;
  // Common time = file time + offset_ns: of all times but the relative ones of a mixed file.
  std::int64_t offset_ns = 0;
  TimeMap times = TimeMap();  // from file time to common time, for every event
  // By sync: how far two ranks may be apart at the sync of the file's cycle, the least bound that
  // any of them gives, plus 1 us for the two truncated stamps. By rounds and same_boot: how far
  // this file may be from the reference, from the first to the last barriers of its cycle that it
  // stamped; two other files may be as far apart as both errors together. Unknown without a sync.
  std::optional<std::int64_t> error_ns;
  // The same for all events of the file. It is more where error_ns is about one moment, the sync:
  // by how far the clock drifts from there to the farthest event, as far as that is known, else by
  // kWorstDriftPpm (worst_error.h). Equal where the bound is of the whole file: by rounds at both
  // ends of the cycle, on the machine of the reference, where drift is interpolated.
  std::optional<std::int64_t> worst_error_ns;
  // Of a file that goes by a sync of its cycle: equal for files whose syncs stamp one moment.
  std::optional<std::size_t> cycle;
  // Of a file by which the others of its cycle have their places: when its clock entered and left
  // the barriers, on the common clock, as all ranks that share the machine stamped them.
  CycleRounds rounds;
  // Drift::ppm, at the file's sync; unknown where that is the only one.
  std::optional<double> drift_ppm;
  // Of a file that has collectives in common with the reference: see align_by_collectives().
  std::optional<CollectiveEstimate> collectives;
  ProblemCounts problems;  // no_clock; bad_sync; bad_rounds; clock_step
};

// One FileClock a file.
//
// The reference is the lowest rank that has a sync: its files are not shifted but by their base. A
// cycle of another rank is found by `cycle` among those of the ranks that have their place; ranks
// that share one with those come first. Else by the order of the syncs, unless all cycles have the
// names that Composer gives ("ep0-ba12"), which then are other moments. A cycle that the reference
// lacks starts a new one for the ranks that follow, placed between the rank's cycles around it, or
// by its nearest one where the clock was set between them, or there are none: so two ranks stay
// aligned to each other where the reference has lost a file. Where no shared cycles lead from a
// rank to the reference, the first such rank is not shifted but by its base, and no_clock is
// counted for all that go by it.
//
// In a cycle the ranks go by the rounds of its barriers where they have stamped them
// (sync_rounds.h), all ranks of a machine as one, and those on the machine of the reference by that
// machine's clock: by how much each file's clock is ahead of it. No shift at all where the two may
// be equal. Rounds that nothing fits are counted as bad_rounds, and the sync is taken in their
// place. Of the rounds at the beginning and at the end of a cycle the shift is the middle of all
// that either allows for, so that its error holds for a clock that drifts in between. Ranks of one
// machine that cannot have shared a clock, by their rounds, are taken for ranks of several.
//
// Drift is taken from the moments that the reference stamped, too: between two of them the clock of
// a rank may change by 500 ppm of the time between. Where the errors of the syncs are more than
// that, nothing is known of drift. Where the clock jumps further than drift and errors allow for,
// clock_step is counted for the files of the later sync. Nothing is interpolated in either case.
//
// A file without a sync goes by that of its cycle, else by the nearest of its rank; where it names
// another cycle than that one, by what lies on the line between the syncs at its first event. Not
// where only one of the two files has Unix times.
//
// A file without a sync that shares sync_events with others goes by those, to the nearest file
// with a clock sync (by the errors of the stamps), or else to the first file with a base or Unix
// times; where there is neither, to the first of them, but only if no other file has a clock.
//
// no_clock is counted for a file that has no evidence while another one has, and for a file with a
// base or Unix ts of a rank without a sync while other ranks have some: what its clock differs
// from theirs by is unknown. bad_sync is counted for a sync that no clock shows (beyond 2^62 ns,
// the year 2116) or that does not fit together with the base; it is taken for missing.
std::vector<FileClock> align(const std::vector<ClockFacts>& files,
                             const ClockOptions& options = {});

}  // namespace traceloom
