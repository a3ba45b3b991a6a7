// DurationStats: the exact statistics of a group of spans.
//
//   DurationValues values{{3, 1, 2}, {}};
//   std::optional<DurationStats> stats = compute_stats(values);   // stats->p50_ns == 2
#pragma once

#include "summarize/duration_column.h"

#include <cstdint>
#include <optional>

namespace traceloom {

struct DurationStats {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns = 0;  // halves are rounded up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;  // nearest rank: always one of the durations, never a value between two
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // deviation of the sample (n - 1); 0 for a single span

  friend bool operator==(const DurationStats&, const DurationStats&) = default;
};

// `values` holds at least one duration. Its order is changed and has no influence: sums are
// integers, so every order gives the same result. Returns nullopt if the total does not fit int64
// nanoseconds (292 years).
std::optional<DurationStats> compute_stats(DurationValues& values);

}  // namespace traceloom
