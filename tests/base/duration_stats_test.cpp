#include "base/duration_stats.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

DurationStats stats_of(std::vector<std::uint32_t> small, std::vector<std::int64_t> large = {}) {
  DurationValues values{std::move(small), std::move(large)};
  return compute_stats(values);
}

std::vector<std::uint32_t> up_to(std::uint32_t last) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = last; i >= 1; --i) numbers.push_back(i);
  return numbers;
}

}  // namespace

TEST_CASE("duration_stats: of one span") {
  const DurationStats expected{.count = 1,
                               .total_ns = 7,
                               .mean_ns = 7,
                               .min_ns = 7,
                               .p50_ns = 7,
                               .p90_ns = 7,
                               .p99_ns = 7,
                               .max_ns = 7,
                               .stddev_ns = 0};
  CHECK(stats_of({7}) == expected);
}

TEST_CASE("duration_stats: percentiles are the nearest rank") {
  const DurationStats ten = stats_of(up_to(10));
  CHECK(ten.p50_ns == 5);
  CHECK(ten.p90_ns == 9);
  CHECK(ten.p99_ns == 10);
  const DurationStats hundred = stats_of(up_to(100));
  CHECK(hundred.p50_ns == 50);
  CHECK(hundred.p90_ns == 90);
  CHECK(hundred.p99_ns == 99);
  const DurationStats more = stats_of(up_to(101));
  CHECK(more.p50_ns == 51);
  CHECK(more.p90_ns == 91);
  CHECK(more.p99_ns == 100);
  CHECK(more.total_ns == 5151);
  CHECK(more.mean_ns == 51);
}

TEST_CASE(
    "duration_stats: percentiles of many spans, whatever their spread, are those of the order") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {499U, 500U, 501U, 502U, 3000U}) {
    for (int width = 1; width <= 63; width += 2) {
      DurationValues values;
      std::vector<std::int64_t> all;
      for (std::size_t i = 0; i < count; ++i) {
        const auto ns = static_cast<std::int64_t>(random() >> (64 - width) >> (random() % 3 * 8));
        all.push_back(ns / static_cast<std::int64_t>(count));
        if (all.back() >> 32 == 0)
          values.small.push_back(static_cast<std::uint32_t>(all.back()));
        else
          values.large.push_back(all.back());
      }
      const DurationStats stats = compute_stats(values);
      std::sort(all.begin(), all.end());
      CAPTURE(count);
      CAPTURE(width);
      CHECK(stats.p50_ns == all[(count * 50 + 99) / 100 - 1]);
      CHECK(stats.p90_ns == all[(count * 90 + 99) / 100 - 1]);
      CHECK(stats.p99_ns == all[(count * 99 + 99) / 100 - 1]);
    }
  }
}

TEST_CASE("duration_stats: means are rounded, halves up") {
  CHECK(stats_of({1, 2}).mean_ns == 2);
  CHECK(stats_of({1, 1, 2}).mean_ns == 1);
  CHECK(stats_of({1, 2, 2}).mean_ns == 2);
  CHECK(stats_of({0, 0, 0, 1}).mean_ns == 0);
}

TEST_CASE("duration_stats: the deviation is that of a sample") {
  CHECK(stats_of({2, 4, 4, 4, 5, 5, 7, 9}).stddev_ns == 2);  // 2.138
  CHECK(stats_of({1000, 3000}).stddev_ns == 1414);           // 1414.21
  CHECK(stats_of({5, 5, 5}).stddev_ns == 0);
  CHECK(stats_of({0, 0, 0, 10'000}).stddev_ns == 5000);
  CHECK(stats_of({4'000'000'000, 4'000'000'003}).stddev_ns == 2);  // 2.12, next to a huge mean
}

TEST_CASE("duration_stats: durations beyond 32 bits stand above all others") {
  const DurationStats stats =
      stats_of({1, 4'294'967'295}, {4'294'967'296, 60'000'000'000, 5'000'000'000});
  CHECK(stats.count == 5);
  CHECK(stats.min_ns == 1);
  CHECK(stats.p50_ns == 4'294'967'296);
  CHECK(stats.p90_ns == 60'000'000'000);
  CHECK(stats.max_ns == 60'000'000'000);
  CHECK(stats.total_ns == 73'589'934'592);
  CHECK(stats_of({}, {9'000'000'000, 5'000'000'000}).p50_ns == 5'000'000'000);
}

TEST_CASE("duration_stats: a total that does not fit is cut") {
  const DurationStats most = stats_of({}, {kMost - 1, 1});
  CHECK(most.total_fits);
  CHECK(most.total_ns == kMost);
  CHECK(most.mean_ns == 4'611'686'018'427'387'904);
  CHECK(most.stddev_ns / 1000 == 6'521'908'912'666'391);
  DurationValues over{{1}, {kMost}};
  const DurationStats cut = compute_stats(over);
  CHECK_FALSE(cut.total_fits);
  CHECK(cut.total_ns == kMost);
  CHECK(cut.mean_ns == 4'611'686'018'427'387'904);
  CHECK(compute_stats(over = {}) == DurationStats{});
}
