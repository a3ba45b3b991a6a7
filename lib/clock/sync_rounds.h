// How far apart two clocks are, by barriers: nobody leaves one before everybody has entered it.
//
//   SyncRounds a{{100, 200}, {150, 260}};               // when a entered and left each of two
//   SyncRounds b{{1'105, 1'240}, {1'152, 1'262}};
//   clock_offset(a, b)->ahead                           // b shows 980 to 1'047 more: {980, 1'047}
//
// In true time each enter of a round comes before each exit of it. So b shows at least enter_b -
// exit_a more than a does, and at most exit_b - enter_a. All rounds hold, so what they allow for
// together does, whatever the way from rank to rank took. What is left of it is about as wide as
// the quickest round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Stamps are before the year 2116, so that the difference of two of them always fits.
constexpr bool is_usable_stamp(std::int64_t ns) {
  constexpr std::int64_t kEndNs = std::int64_t{1} << 62;
  return ns > -kEndNs && ns < kEndNs;
}

// What a rank stamped; as many exits as enters.
struct SyncRounds {
  std::vector<std::int64_t> enter_ns;
  std::vector<std::int64_t> exit_ns;

  bool empty() const { return enter_ns.empty(); }
  bool operator==(const SyncRounds&) const = default;
};

// What a rank stamped of a profiling cycle; either may be missing.
struct CycleRounds {
  SyncRounds start = {};
  SyncRounds end = {};

  bool empty() const { return start.empty() && end.empty(); }
  bool operator==(const CycleRounds&) const = default;
};

// From ... to, both included.
struct ClockRange {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;

  // The middle, half a nanosecond rounded down, and how far it may be off.
  std::int64_t middle_ns() const;
  std::int64_t error_ns() const;
  bool holds(std::int64_t ns) const { return low_ns <= ns && ns <= high_ns; }
  bool operator==(const ClockRange&) const = default;
};

// a + b, a - b and all that is in either; nullopt when it does not fit.
std::optional<ClockRange> sum(const ClockRange& a, const ClockRange& b);
std::optional<ClockRange> difference(const ClockRange& a, const ClockRange& b);
// The largest distance of `ns` from any time in it; the largest number when that does not fit.
std::int64_t farthest(std::int64_t ns, const ClockRange& range);
ClockRange hull(const ClockRange& a, const ClockRange& b);

// The clock of a machine (CLOCK_MONOTONIC of one boot) that several files know of.
struct MachineClock {
  std::string id;    // equal where it is the same clock
  ClockRange ahead;  // by how much the file's clock is ahead of it
};

// Of a file, to the time of another one that shares its machine's clock, by how far each is ahead
// of that: none where both may be equal. nullopt when it does not fit.
struct MachineShift {
  std::int64_t shift_ns = 0;
  std::int64_t error_ns = 0;
};
std::optional<MachineShift> machine_shift(const ClockRange& of_other, const ClockRange& own);

// The rounds on the clock of the machine: an enter was not before its value here, an exit not
// after. nullopt when a time does not fit.
std::optional<SyncRounds> on_machine(const SyncRounds& rounds, const ClockRange& ahead);

// What is known of a barrier when one more rank that shares the clock stamped it: the last enter
// and the first exit. False, and nothing happens, for another number of rounds.
bool join(SyncRounds& rounds, const SyncRounds& of_other_rank);
// As many exits as enters, and no exit of a round before its enter.
bool is_possible(const SyncRounds& rounds);

struct ClockOffset {
  std::int64_t at_ns = 0;  // on the other clock: in the middle of the rounds but the first
  ClockRange ahead;        // the other clock, of the reference
  // Nothing fits all rounds: a clock was set while they lasted.
  bool is_contradiction() const { return ahead.low_ns > ahead.high_ns; }
};

// Rounds before and after `at_ns` say a little less than their own moment's offset, as much as
// clocks may drift in between. nullopt when there is no round, or not the same number on both
// sides, or a time does not fit.
std::optional<ClockOffset> clock_offset(const SyncRounds& reference, const SyncRounds& other);

}  // namespace traceloom
