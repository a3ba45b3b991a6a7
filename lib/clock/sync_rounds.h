// clock_offset: computes the difference between two clocks from barriers: no rank leaves a barrier
// before all have entered it.
//
//   SyncRounds a{{100, 200}, {150, 260}};               // a's enters and exits of two rounds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Stamps must be before the year 2116, so that the difference of two of them always fits.
constexpr bool is_usable_stamp(std::int64_t ns) {
  constexpr std::int64_t kEndNs = std::int64_t{1} << 62;
  return ns > -kEndNs && ns < kEndNs;
}

// The stamps of a rank, with as many exits as enters.
struct SyncRounds {
  std::vector<std::int64_t> enter_ns;
  std::vector<std::int64_t> exit_ns;

  template <typename Wire>
  void wire(Wire& wire) {
    wire(enter_ns, exit_ns);
  }

  bool empty() const { return enter_ns.empty(); }
  bool operator==(const SyncRounds&) const = default;
};

// The stamps of a rank for a profiling cycle; either may be missing.
struct CycleRounds {
  SyncRounds start = {};
  SyncRounds end = {};

  template <typename Wire>
  void wire(Wire& wire) {
    wire(start, end);
  }

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

}  // namespace traceloom
