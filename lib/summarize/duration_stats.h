// DurationStats: what the statistics of a group of spans say, exactly.
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
  std::int64_t mean_ns = 0;  // halves up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;  // nearest rank: one of the durations, never a value between two
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // of the sample (n - 1); 0 for a single span

  friend bool operator==(const DurationStats&, const DurationStats&) = default;
};

// `values` holds at least one duration; their order is changed and does not matter: sums are
// integers, so the result is the same for any order. nullopt when the total does not fit int64
// nanoseconds (292 years).
std::optional<DurationStats> compute_stats(DurationValues& values);

}  // namespace traceloom
