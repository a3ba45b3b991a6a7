#include "analysis/numbers.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("time stats: are those of the sorted times") {
  const TimeStats stats = time_stats({5, 1, 4, 2, 3, 6, 8, 7, 10, 9});
  CHECK(stats.count == 10);
  CHECK(stats.total_ns == 55);
  CHECK(stats.mean_ns == 6);
  CHECK(stats.min_ns == 1);
  CHECK(stats.p50_ns == 5);
  CHECK(stats.p90_ns == 9);
  CHECK(stats.p99_ns == 10);
  CHECK(stats.max_ns == 10);
  CHECK(stats.stddev_ns == 3);
  CHECK(time_stats({7}).stddev_ns == 0);
  CHECK(time_stats({}).p99_ns == 0);
}

TEST_CASE("weighted mean: long work counts for more, in whatever order it comes") {
  WeightedMean mean;
  CHECK(mean.empty());
  CHECK(mean.value() == 0);
  mean.add(0.25, 30);
  mean.add(1, 10);
  CHECK(mean.value() == 0.4375);
  WeightedMean other;
  other.add(1, 10);
  other.add(0.25, 30);
  CHECK(other.value() == mean.value());
}

TEST_CASE("weighted mean: of work that takes no time it is the plain one") {
  WeightedMean mean;
  mean.add(1, 0);
  mean.add(2, 0);
  CHECK(mean.value() == 1.5);
  mean.add(1e300, 5);
  CHECK(mean.value() == 1.5);
}
