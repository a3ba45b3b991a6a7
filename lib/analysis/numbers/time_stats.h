// TimeStats: how long the occurrences of something took.
//
//   TimeStats stats = time_stats(std::move(times));          // stats.p99_ns, stats.mean_ns, ...
//
// Percentiles are exact: of n times in order the one at place ceil(p * n).
#pragma once

#include <cstdint>
#include <vector>

namespace traceloom {

struct TimeStats {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns = 0;  // halves up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // of the sample (n - 1); 0 for one
};

// All 0 for none. In whatever order: the answer is the same.
TimeStats time_stats(std::vector<std::int64_t> times);

// A mean by duration of numbers as traces have them (blocks per SM: 0.25), exact in millionths, so
// that the order in which they come does not matter.
class WeightedMean {
 public:
  void add(double number, std::int64_t ns);
  bool empty() const { return count_ == 0; }
  // Of numbers that all weigh nothing the plain mean; 0 for none.
  double value() const;

 private:
  __extension__ typedef __int128 Int128;

  Int128 sum_ = 0;  // of millionths times ns
  std::int64_t ns_ = 0;
  Int128 plain_ = 0;  // of millionths
  std::int64_t count_ = 0;
};

}  // namespace traceloom
