// TimeStats: statistics of the lengths of some events.
//
//   TimeStats stats = time_stats(std::move(times));          // stats.p99_ns, stats.mean_ns, ...
//
// Percentiles are exact: of n sorted times, the one at place ceil(p * n).
#pragma once

#include <cstdint>
#include <vector>

namespace traceloom {

struct TimeStats {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns = 0;  // halves are rounded up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // deviation of the sample (n - 1); 0 for one value
};

// Returns zeros for an empty list. The order of `times` has no influence.
TimeStats time_stats(std::vector<std::int64_t> times);

// A mean of the numbers in traces (blocks per SM: 0.25), weighted by duration. It is exact in
// millionths, so the order of the numbers has no influence.
class WeightedMean {
 public:
  void add(double number, std::int64_t ns);
  void add(const WeightedMean& more);
  bool empty() const { return count_ == 0; }
  // Returns the plain mean if all weights are 0, and 0 if there are no numbers.
  double value() const;

 private:
  __extension__ typedef __int128 Int128;

  Int128 sum_ = 0;  // sum of millionths times ns
  std::int64_t ns_ = 0;
  Int128 plain_ = 0;  // sum of millionths
  std::int64_t count_ = 0;
};

}  // namespace traceloom
