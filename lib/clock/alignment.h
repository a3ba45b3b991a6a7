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
#include "clock/alignment_words.h"
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
};

struct FileClock : ClockSummary {
  TimeMap times = TimeMap();  // from file time to common time, for every event
  // Of a file that goes by a sync of its cycle: equal for files whose syncs stamp one moment.
  std::optional<std::size_t> cycle;
  // Of a file by which the others of its cycle have their places: when its clock entered and left
  // the barriers, on the common clock, as all ranks that share the machine stamped them.
  CycleRounds rounds;
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
