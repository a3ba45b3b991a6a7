// The clock of each input: the base of times that lack one, and the offset to the common clock.
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_reading.h"
#include "identity/ranks/ranks.h"

#include <cstdint>
#include <optional>
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
// Oddities in this evidence are counted: see clock_checks.h.
ClockPlan plan_clocks(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
                      const ClockOptions& options = {});

// Returns the earliest start of all files on the common clock, floored to a whole microsecond (so
// that microsecond inputs give microsecond outputs), or 0 if no file has an event. A start beyond
// +-2^63 ns is left out.
std::int64_t common_origin_ns(const std::vector<StartTimes>& starts,
                              const std::vector<FileClock>& clocks);

}  // namespace traceloom
