// The clock of each input: the base of times that lack one, and the offset to the common clock.
#pragma once

#include "clock/alignment.h"
#include "identity/clocks/collective_matches.h"
#include "identity/evidence/file_reading.h"
#include "identity/ranks/ranks.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

// find_lost_bases: finds the Unix time from which the relative times of a file count if the file
// does not name it.
//
// torch (Kineto) writes times since a base that is a whole number of 7 889 238 s (three average
// months) and names the base next to the events. Composer copies the events into its own file
// without the base. Any hint of the right time selects that number again, and with it the base to
// the nanosecond.

inline constexpr std::int64_t kTorchBaseUnitNs = 7'889'238'000'000'000;

struct LostBase {
  enum class By : std::uint8_t {
    own_events,   // Unix times in the same file
    own_sync,     // the file's clock sync
    other_files,  // the times of files that have a base or Unix times
    // no base fits: the first relative event was placed at the file's clock sync, otherwise at its
    // first Unix time; or the guess was made for another file of the rank with relative times of
    // the same clock
    guess,
  };
  By by = By::own_events;
  std::int64_t base_ns = 0;  // Unix nanoseconds of the relative time 0
  std::int64_t units = 0;    // base_ns = units * kTorchBaseUnitNs; 0 for a guess
};
// Returns "1790857026 s (227 x 7889238 s), by the Unix times of the same file".
std::string to_string(const LostBase& base);

// Returns one entry a file; nullopt if no base is missing or there is no hint. It looks only at
// files of Composer and torch, and accepts only a base that puts the file near the hint: within an
// hour of the file's own Unix times, or a day of a clock sync or of the events of another file.
//
// The time stamp of the file itself is no hint: a copy has another one, and the same inputs must
// give the same output.
std::vector<std::optional<LostBase>> find_lost_bases(const std::vector<InputReading>& files,
                                                     const std::vector<FileRank>& ranks);

// plan_clocks: computes the offset of each file's clock from the files' evidence, by one rule for
// all commands.
//
//   ClockPlan plan = plan_clocks(files, assign_ranks(files));
//   plan.clocks[file].times.since(plan.origin_ns).map(file_ns, common_ns);

struct ClockPlan {
  std::vector<ClockFacts> facts;    // one an input
  std::vector<FileClock> clocks;    // one an input; its problems include those counted here
  std::vector<MergedCycle> cycles;  // cycles of all inputs together, on the common clock
  std::int64_t origin_ns = 0;       // the earliest event on the common clock, floored to 1 us
};

// All vectors have one entry an input. The plan follows these rules:
// 1. A base that a file lacks is restored if possible (clock_plan.h), and counted as base_restored
//    or base_guessed.
// 2. The sync of a file is its first clock_sync_timestamp_us event, otherwise the top-level key of
//    that name.
// 3. A merged file uses the sync of its lowest rank, so that the merges of several nodes can be
//    aligned. If it names its cycles, each cycle uses its own sync.
// 4. Times further apart than int64 reaches (292 years) cannot be on one time line. In each file,
//    and then in all files together, the time line with the most events stays; clocks map no other
//    time.
//
// Oddities in this evidence are counted: see check_clocks().
ClockPlan plan_clocks(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
                      const ClockOptions& options = {});

// Returns the earliest start of all files on the common clock, floored to a whole microsecond (so
// that microsecond inputs give microsecond outputs), or 0 if no file has an event. A start beyond
// +-2^63 ns is left out.
std::int64_t common_origin_ns(const std::vector<StartTimes>& starts,
                              const std::vector<FileClock>& clocks);

// The messages about aligned clocks: which were moved, which ranks are apart, what is odd.

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
// - ranks_apart: see check_ranks_apart().
// - no_clock: no file has any clock evidence, and no collective connects these ranks with the
//   lowest one; counted for the first file of them. Not if the user aligns by nothing.
// - world_size_disagrees: a file names another world size than the first file that names one.
// - missing_rank: a rank of that world has no file; counted for that first file. If no file names a
//   world size and no rank was chosen by RANK=path, a rank below the highest one is missing;
//   counted for the first file. A single file has no missing ranks.
void check_clocks(const ClockedFiles& files, AlignBy align_by);

// align_by_collectives: aligns the clocks of ranks without a common sync by the collectives and
// messages that they have in common.
//
//   align_by_collectives(files, options);                                // in plan_clocks()

// The function uses files that recorded collectives of their
// ranks; a merged file is moved as a whole. It finds how far the clock of each file is ahead of a
// reference: that of the lowest rank, or of a file with better evidence (ClockOptions::offsets, the
// rounds or the machine of our recorder, moments that files stamped). Files with better evidence
// keep their clocks. FileClock::collectives holds the estimate, and error_ns and worst_error_ns the
// possible error of the clock that is used.
//
// The clocks of ranks that have collectives in common are moved (ClockMethod::collectives) in two
// cases; other files of these ranks move with them:
// 1. The estimate contradicts the clock of a rank (a clock sync of one number, a base time).
// 2. The estimate brings the ends of the collectives together to less than half their distance, and
//    by more than 10 us.
//
// Otherwise all clocks stay. In both cases, a clock stays that is off by no more than the least
// error that can be claimed (CollectiveFit). These problems are counted:
// - shifted_clock: a file was moved. Files that were moved alike are reported once, for the first
//   of them (shift_lines).
// - clock_conflict: a clock was set while collectives went on, or runs much faster than clocks do.
//   It stays, and no error is claimed. If clocks with offsets that the user gave contradict all
//   others, those are the ones that were set.
// - no_common_collective: files have collectives, but none in common with the reference, although
//   they are of its run, and nothing better than a base time places them.
// - vague_collectives: the same of files that a clock sync places or that are of another run; or
//   collectives contradict each other all the time and do not name their group, so they may belong
//   to several.
void align_by_collectives(const ClockedFiles& files, const ClockOptions& options);

}  // namespace traceloom
