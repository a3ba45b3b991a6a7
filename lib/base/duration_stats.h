// DurationStats: the exact statistics of a group of spans.
//
//   DurationValues values{{3, 1, 2}, {}};
//   DurationStats stats = compute_stats(values);   // stats.p50_ns == 2
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// The durations of a group; their order has no meaning. Nearly all spans are shorter than the 4.3 s
// that 32 bits hold.
struct DurationValues {
  std::vector<std::uint32_t> small;
  std::vector<std::int64_t> large;  // durations of 2^32 ns and more

  // `ns` is not negative.
  void add(std::int64_t ns) {
    if (ns >> 32 != 0)
      large.push_back(ns);
    else
      small.push_back(static_cast<std::uint32_t>(ns));
  }
  void append(const DurationValues& more) {
    small.insert(small.end(), more.small.begin(), more.small.end());
    large.insert(large.end(), more.large.begin(), more.large.end());
  }
  std::size_t size() const { return small.size() + large.size(); }
};

struct DurationStats {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns = 0;  // halves are rounded up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;  // nearest rank: always one of the durations, never a value between two
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // deviation of the sample (n - 1); 0 for a single span
  // False if the total does not fit int64 nanoseconds (292 years); then it is cut to that limit.
  bool total_fits = true;

  friend bool operator==(const DurationStats&, const DurationStats&) = default;
};

// The order of the values is changed and has no influence: sums are integers, so every order gives
// the same result. Returns zeros if there are none.
DurationStats compute_stats(DurationValues& values);

}  // namespace traceloom
