// Short ways to write what files say of their clocks, and to read what align() makes of it.
#pragma once

#include "clock/alignment.h"

#include <limits>
#include <string>
#include <vector>

namespace traceloom {

inline constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
// A Unix time in 2026, in ns and us.
inline constexpr std::int64_t kNowNs = 1'795'202'969'000'000'000;
inline constexpr std::int64_t kNowUs = kNowNs / 1000;

inline std::vector<std::int64_t> offsets(const std::vector<ClockFacts>& files) {
  std::vector<std::int64_t> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.offset_ns);
  return result;
}

inline std::vector<ClockMethod> methods(const std::vector<ClockFacts>& files) {
  std::vector<ClockMethod> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.method);
  return result;
}

inline std::vector<std::uint64_t> counts(const std::vector<ClockFacts>& files, Problem problem) {
  std::vector<std::uint64_t> result;
  for (const FileClock& clock : align(files)) result.push_back(clock.problems.count(problem));
  return result;
}

// A Composer file: ts is Unix time, no base.
inline ClockFacts synced(std::int64_t rank, std::int64_t sync_us, const std::string& cycle = "",
                         std::optional<std::int64_t> bound_us = std::nullopt) {
  return {.rank = rank, .sync_us = sync_us, .error_bound_us = bound_us, .cycle = cycle};
}

// A torch file: ts 0 is at base_ns.
inline ClockFacts based(std::int64_t rank, std::int64_t base_ns,
                        std::optional<std::int64_t> first_ns) {
  return {.rank = rank, .base_ns = base_ns, .first_ns = first_ns};
}

using Ns = std::vector<std::int64_t>;
using Counts = std::vector<std::uint64_t>;
using Methods = std::vector<ClockMethod>;

inline const ClockOptions kLinear{.drift = DriftMode::linear};

}  // namespace traceloom
