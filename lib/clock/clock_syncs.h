// Syncs of clocks tell the difference of two clocks, their drift, and moments that files stamped
// together.
#pragma once

#include "base/arithmetic.h"
#include "base/problems.h"
#include "clock/time_map.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// clock_offset: computes the difference between two clocks from barriers: no rank leaves a barrier
// before all have entered it.
//
//   SyncRounds a{{100, 200}, {150, 260}};               // a's enters and exits of two rounds

// Stamps must be before the year 2116, so that the difference of two of them always fits.
constexpr bool is_usable_stamp(std::int64_t ns) {
  constexpr std::int64_t kEndNs = std::int64_t{1} << 62;
  return ns > -kEndNs && ns < kEndNs;
}

// The stamps of a rank, with as many exits as enters.
struct SyncRounds {
  std::vector<std::int64_t> enter_ns;
  std::vector<std::int64_t> exit_ns;

  bool empty() const { return enter_ns.empty(); }
  bool operator==(const SyncRounds&) const = default;
};

// The stamps of a rank for a profiling cycle; either may be missing.
struct CycleRounds {
  SyncRounds start = {};
  SyncRounds end = {};

  bool empty() const { return start.empty() && end.empty(); }
  bool operator==(const CycleRounds&) const = default;
};

// A range that includes both ends.
struct ClockRange {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;

  // The middle, half a nanosecond rounded down, and its possible error.
  std::int64_t middle_ns() const;
  std::int64_t error_ns() const;
  bool holds(std::int64_t ns) const { return low_ns <= ns && ns <= high_ns; }
  bool operator==(const ClockRange&) const = default;
};

// Returns how far two times are apart, at most the greatest number.
inline std::int64_t apart(std::int64_t a, std::int64_t b) {
  return a < b ? saturating_subtract(b, a) : saturating_subtract(a, b);
}
// These return nullopt if the result does not fit.
inline std::optional<std::int64_t> us_to_ns(std::int64_t us) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(us, std::int64_t{1000}, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
// They return a + b, a - b, and hull() the range around both; nullopt if the result does not fit.
std::optional<ClockRange> sum(const ClockRange& a, const ClockRange& b);
std::optional<ClockRange> difference(const ClockRange& a, const ClockRange& b);
// Returns the largest distance of `ns` from any time in the range, or the largest number if that
// does not fit.
std::int64_t farthest(std::int64_t ns, const ClockRange& range);
ClockRange hull(const ClockRange& a, const ClockRange& b);

// The clock of a machine (CLOCK_MONOTONIC of one boot) that several files recorded.
struct MachineClock {
  std::string id;    // equal for the same clock
  ClockRange ahead;  // lead of the file's clock over it
};

// The shift from a file to another one that shares its machine's clock, computed from the lead of
// each. It is 0 if both leads may be equal; nullopt if it does not fit.
struct MachineShift {
  std::int64_t shift_ns = 0;
  std::int64_t error_ns = 0;
};
std::optional<MachineShift> machine_shift(const ClockRange& of_other, const ClockRange& own);

// Returns the rounds on the clock of the machine: an enter was not earlier than its value here, an
// exit not later. Returns nullopt if a time does not fit.
std::optional<SyncRounds> on_machine(const SyncRounds& rounds, const ClockRange& ahead);

// Adds the stamps of another rank that shares the clock: keeps the last enter and the first exit.
// Returns false and does nothing if the number of rounds differs.
bool join(SyncRounds& rounds, const SyncRounds& of_other_rank);
// True if there are as many exits as enters, and no exit of a round is before its enter.
bool is_possible(const SyncRounds& rounds);

struct ClockOffset {
  std::int64_t at_ns = 0;  // time on the other clock, in the middle of the rounds except the first
  ClockRange ahead;        // lead of the other clock over the reference
  // True if no lead fits all rounds: a clock was set while they lasted.
  bool is_contradiction() const { return ahead.low_ns > ahead.high_ns; }
};

// Rounds before and after `at_ns` give a wider range than at their own moment, by the greatest
// drift in between. Returns nullopt if there is no round, if the numbers of rounds differ, or if a
// time does not fit.
std::optional<ClockOffset> clock_offset(const SyncRounds& reference, const SyncRounds& other);

// drifts_of: computes how the clock of a rank drifts between its clock syncs.
//
//   std::vector<SyncPoint> points = {{0, 100, 5}, {1'000'000'000, 40'100, 5}};
//   drifts_of(points)[0].ppm == -40               // the clock loses 40 us a second

// Quartz is good for 100 ppm, and NTP slews by at most 500: clocks that diverge faster were set.
inline constexpr int kMaxDriftPpm = 500;

// A clock sync of one rank.
struct SyncPoint {
  std::int64_t at_ns = 0;     // on the rank's own clock
  std::int64_t shift_ns = 0;  // nanoseconds to the common clock
  std::int64_t error_ns = 0;  // possible error of the shift
};

// Returns the range in which the shift lies.
ClockRange range_of(const SyncPoint& point);

enum class ClockChange : std::uint8_t {
  drift,   // a change of at most 500 ppm of the time between, and errors of the syncs that are no
           // larger
  unsure,  // a change that the errors of the syncs alone may explain
  step,    // a change beyond drift and errors: the clock was set
};
ClockChange change_between(const SyncPoint& earlier, const SyncPoint& later);
// Counts clock_step, with the size of the step and the time in which it happened.
void count_step(const SyncPoint& earlier, const SyncPoint& later, ProblemCounts& problems);

struct Drift {
  // The sync and its neighbours, as far as the clock only drifted, so that the shift can be
  // interpolated between them. It has one knot if the drift is not known. Syncs of one line share
  // it.
  std::shared_ptr<const TimeMap::Line> line;
  // The rate by which the clock runs faster than the reference's, in millionths with three
  // decimals, until the next sync or since the previous one.
  std::optional<double> ppm;
};

// Returns one Drift a point. The points ascend by time.
std::vector<Drift> drifts_of(const std::vector<SyncPoint>& points);

// place_by_sync_events: finds clocks by moments that several files stamped under one id, the `c`
// events of a trace.
//
//   std::vector<SyncNode> files(2);
//   files[0] = {{{"\"a\"", 5'000, 0}}, 0};        // has a place: its clock is the common one
//   files[1] = {{{"\"a\"", 9'000, 200}}, {}};
//   place_by_sync_events(files)[1]->offset_ns == -4'000

// A moment that has a name, on the clock of one file.
struct SyncEvent {
  std::string id;
  std::int64_t moment_ns = 0;
  // The length of the stamp: a process that asks another one for it knows only when it asked and
  // when it was answered, and uses the middle.
  std::int64_t error_ns = 0;
};

struct SyncNode {
  std::vector<SyncEvent> events = {};          // no id occurs twice
  std::optional<std::int64_t> offset_ns = {};  // set for a file whose place is known
};

struct SyncPlace {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;  // sum of the stamps' errors on the path from a known place
};

// Places all files that share ids with a known place, directly or through other files; each uses
// the path with the smallest error. Known places stay; a file without a path gets nullopt.
std::vector<std::optional<SyncPlace>> place_by_sync_events(const std::vector<SyncNode>& files);

// Returns the groups of two or more files that ids connect; both the groups and their files ascend.
std::vector<std::vector<std::size_t>> connected_by_sync_events(const std::vector<SyncNode>& files);

}  // namespace traceloom
