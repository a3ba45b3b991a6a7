// The messages about aligned clocks: which were moved, which ranks are apart, what is odd.
#pragma once

#include "clock/alignment.h"
#include "identity/clocks/collective_matches.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

// ShiftLines: the lines that report clocks moved by collectives, one for all ranks moved alike, as
// those of a host are.
//
//   for (const ShiftLine& line : shift_lines(shifts, ends)) warn(line.file, line.words);
//   // "ranks 4-7 shifted by -70.000 s: their collectives end with the others' (±12 us)"

struct RankShift {
  std::size_t file = 0;
  std::vector<std::int64_t> ranks;  // of the file, at least one
  std::int64_t shift_ns = 0;
  std::int64_t bound_ns = 0;
  bool contradicts = true;  // by more than the bound
  bool is_small = false;    // the ends of its collectives are still farther apart
};

struct ShiftLine {
  std::size_t file = 0;   // that of the lowest rank
  std::size_t files = 1;  // how many it is about
  std::string words;
};

// Ranks are moved alike if their shifts lie within each other's bounds. Returns at most eight
// lines, the lowest ranks first; the last one counts those that have no room. It also names the
// ranks whose shifts are small, if others are not. Of a clock that may have been right, the line
// says how far the ends were apart and are now.
std::vector<ShiftLine> shift_lines(std::vector<RankShift> shifts, const EndSpread& ends = {});

// Returns the option that moves a clock back by `ahead_ns`: "--offset 5=-70000000000ns".
std::string offset_option(const ClockFacts& facts, const FileClock& clock, std::int64_t ahead_ns);

// check_ranks_apart: finds ranks whose events are at another time than those of the lowest rank.
//
//   check_ranks_apart(files);
//   // "ranks 5-7 begin 90.000 s after rank 0; trace-merge --offset 5=... --offset 6=... ..."

// The ranks of which something says that they belong to one run: a set for each world size and each
// process group that several ranks name.
std::vector<std::set<std::int64_t>> find_runs(const ClockedFiles& files);

// Such ranks were recorded at another time, or their clocks are wrong. Ranks whose times overlap,
// directly or through other ranks, stand together (as those of one host do). Each set of ranks that
// does not stand with the lowest rank is counted as ranks_apart, with the number of its ranks, for
// the first file of its lowest rank, if all of this is true:
// - Only an absolute time (a base time) places its ranks, and no collective does.
// - A world size or a process group says that a rank of it belongs to a run of several ranks:
//   traces of different runs may be merged on purpose.
// - It has several events: a single moment proves nothing.
void check_ranks_apart(const ClockedFiles& files);

// check_clocks: finds oddities of the clocks and ranks of files that share a time line. None of
// them is a reason to stop.

// Counts these problems in FileClock::problems:
// - sync_conflict: a clock sync has another value than the one in use, which is the first.
// - far_sync: a sync is more than ten minutes from the file's events, or more than a day from the
//   reference's sync of the same cycle, so it belongs to another run.
// - wide_sync: ranks may be more than a millisecond apart in their cycle; counted for the first
//   such file.
// - ranks_apart: see clock_checks.h.
// - no_clock: no file has any clock evidence, and no collective connects these ranks with the
//   lowest one; counted for the first file of them. Not if the user aligns by nothing.
// - world_size_disagrees: a file names another world size than the first file that names one.
// - missing_rank: a rank of that world has no file; counted for that first file. If no file names a
//   world size and no rank was chosen by RANK=path, a rank below the highest one is missing;
//   counted for the first file. A single file has no missing ranks.
void check_clocks(const ClockedFiles& files, AlignBy align_by);

}  // namespace traceloom
