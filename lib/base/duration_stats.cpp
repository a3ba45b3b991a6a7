#include "base/duration_stats.h"

#include "base/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace traceloom {
namespace {

template <typename Use>
void for_each(const DurationValues& values, Use use) {
  for (const std::uint32_t ns : values.small) use(static_cast<std::uint64_t>(ns));
  for (const std::int64_t ns : values.large) use(static_cast<std::uint64_t>(ns));
}

// Measures distances from the mean's whole nanoseconds, so that the sum is exact if its squares fit
// (as they do if the total does). The error of that mean, total - count * floor, is subtracted
// afterwards.
template <typename Squares>
std::int64_t standard_deviation(const DurationValues& values, Uint128 total) {
  const std::uint64_t count = values.size();
  if (count < 2) return 0;
  const auto floor = static_cast<std::uint64_t>(total / count);
  Squares squares = 0;
  for_each(values, [&](std::uint64_t ns) {
    const std::uint64_t distance = ns > floor ? ns - floor : floor - ns;
    squares += static_cast<Squares>(distance) * distance;
  });
  const long double rest = static_cast<long double>(total % count);
  const long double sum =
      static_cast<long double>(squares) - rest * rest / static_cast<long double>(count);
  return std::llround(std::sqrt(std::max(sum, 0.0L) / static_cast<long double>(count - 1)));
}

// Places ascend, so each search leaves out the values that the one before has put below its place.
void find_percentiles(DurationValues& values, DurationStats& stats) {
  std::size_t done = 0;
  const auto search = [&](auto& list, std::size_t first, std::size_t place) {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(place - first);
    if (place >= done)
      std::nth_element(list.begin() + static_cast<std::ptrdiff_t>(std::max(done, first) - first),
                       at, list.end());
    done = std::max(done, place + 1);
    return static_cast<std::int64_t>(*at);
  };
  const auto percentile_of = [&](std::size_t percent) {
    const std::size_t place = percentile_place(values.size(), percent);
    const std::size_t small = values.small.size();
    return place < small ? search(values.small, 0, place) : search(values.large, small, place);
  };
  stats.p50_ns = percentile_of(50);
  stats.p90_ns = percentile_of(90);
  stats.p99_ns = percentile_of(99);
}

}  // namespace

DurationStats compute_stats(DurationValues& values) {
  DurationStats stats;
  const std::size_t count = values.size();
  if (count == 0) return stats;
  Uint128 total = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for_each(values, [&](std::uint64_t ns) {
    total += ns;
    least = std::min(least, ns);
    most = std::max(most, ns);
  });
  constexpr Uint128 kMost = std::numeric_limits<std::int64_t>::max();
  stats.total_fits = total <= kMost;
  stats.count = static_cast<std::int64_t>(count);
  stats.total_ns = static_cast<std::int64_t>(std::min(total, kMost));
  stats.mean_ns = static_cast<std::int64_t>((total * 2 + count) / (Uint128{count} * 2));
  stats.min_ns = static_cast<std::int64_t>(least);
  stats.max_ns = static_cast<std::int64_t>(most);
  find_percentiles(values, stats);
  stats.stddev_ns = stats.total_fits ? standard_deviation<Uint128>(values, total)
                                     : standard_deviation<long double>(values, total);
  return stats;
}

}  // namespace traceloom
