#include "clock/sync_rounds.h"

#include "clock/drift.h"

#include <algorithm>
#include <limits>

namespace traceloom {
namespace {

__extension__ typedef __int128 Int128;

std::optional<std::int64_t> narrow(Int128 value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<ClockRange> range(Int128 low, Int128 high) {
  const std::optional<std::int64_t> low_ns = narrow(low);
  const std::optional<std::int64_t> high_ns = narrow(high);
  if (!low_ns || !high_ns) return std::nullopt;
  return ClockRange{*low_ns, *high_ns};
}

bool shift(std::vector<std::int64_t>& times, std::int64_t less_ns) {
  return std::none_of(times.begin(), times.end(), [less_ns](std::int64_t& ns) {
    return __builtin_sub_overflow(ns, less_ns, &ns);
  });
}

// Returns the most by which two clocks may diverge in that time, rounded up.
Int128 most_drift(Int128 elapsed) {
  constexpr int kMillion = 1'000'000;
  return ((elapsed < 0 ? -elapsed : elapsed) * kMaxDriftPpm + kMillion - 1) / kMillion;
}

// Skips the first round if there are more, because in it ranks wait for the last one.
std::int64_t middle_of(const SyncRounds& rounds) {
  const std::size_t first = rounds.enter_ns.size() > 1 ? 1 : 0;
  return static_cast<std::int64_t>((Int128{rounds.enter_ns[first]} + rounds.exit_ns.back()) / 2);
}

}  // namespace

std::int64_t ClockRange::middle_ns() const {
  return static_cast<std::int64_t>((Int128{low_ns} + high_ns) >> 1);
}

std::int64_t ClockRange::error_ns() const {
  return farthest(middle_ns(), *this);
}

std::optional<ClockRange> sum(const ClockRange& a, const ClockRange& b) {
  return range(Int128{a.low_ns} + b.low_ns, Int128{a.high_ns} + b.high_ns);
}

std::optional<ClockRange> difference(const ClockRange& a, const ClockRange& b) {
  return range(Int128{a.low_ns} - b.high_ns, Int128{a.high_ns} - b.low_ns);
}

std::int64_t farthest(std::int64_t ns, const ClockRange& range) {
  const Int128 far = std::max(Int128{range.high_ns} - ns, Int128{ns} - range.low_ns);
  return narrow(far).value_or(std::numeric_limits<std::int64_t>::max());
}

ClockRange hull(const ClockRange& a, const ClockRange& b) {
  return {std::min(a.low_ns, b.low_ns), std::max(a.high_ns, b.high_ns)};
}

std::optional<MachineShift> machine_shift(const ClockRange& of_other, const ClockRange& own) {
  const std::optional<ClockRange> shift = difference(of_other, own);
  if (!shift) return std::nullopt;
  const std::int64_t shift_ns = shift->holds(0) ? 0 : shift->middle_ns();
  return MachineShift{shift_ns, farthest(shift_ns, *shift)};
}

std::optional<SyncRounds> on_machine(const SyncRounds& rounds, const ClockRange& ahead) {
  SyncRounds shifted = rounds;
  if (!shift(shifted.enter_ns, ahead.high_ns) || !shift(shifted.exit_ns, ahead.low_ns))
    return std::nullopt;
  return shifted;
}

bool join(SyncRounds& rounds, const SyncRounds& of_other_rank) {
  if (rounds.enter_ns.size() != of_other_rank.enter_ns.size()) return false;
  for (std::size_t i = 0; i < rounds.enter_ns.size(); ++i) {
    rounds.enter_ns[i] = std::max(rounds.enter_ns[i], of_other_rank.enter_ns[i]);
    rounds.exit_ns[i] = std::min(rounds.exit_ns[i], of_other_rank.exit_ns[i]);
  }
  return true;
}

bool is_possible(const SyncRounds& rounds) {
  if (rounds.enter_ns.size() != rounds.exit_ns.size()) return false;
  for (std::size_t i = 0; i < rounds.enter_ns.size(); ++i)
    if (rounds.exit_ns[i] < rounds.enter_ns[i]) return false;
  return true;
}

std::optional<ClockOffset> clock_offset(const SyncRounds& reference, const SyncRounds& other) {
  if (other.empty() || reference.enter_ns.size() != other.enter_ns.size()) return std::nullopt;
  const std::int64_t at_ns = middle_of(other);
  std::optional<Int128> low;
  std::optional<Int128> high;
  for (std::size_t i = 0; i < other.enter_ns.size(); ++i) {
    const Int128 enter_ns = other.enter_ns[i];
    const Int128 exit_ns = other.exit_ns[i];
    const Int128 least = enter_ns - reference.exit_ns[i] - most_drift(enter_ns - at_ns);
    const Int128 most = exit_ns - reference.enter_ns[i] + most_drift(exit_ns - at_ns);
    low = std::max(least, low.value_or(least));
    high = std::min(most, high.value_or(most));
  }
  const std::optional<ClockRange> ahead = range(*low, *high);
  return ahead ? std::optional(ClockOffset{at_ns, *ahead}) : std::nullopt;
}

}  // namespace traceloom
