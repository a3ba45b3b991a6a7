#include "base/arithmetic.h"
#include "clock/collective_rounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace traceloom {
namespace {

constexpr double kMillionth = 1e-6;
constexpr double kMostSlope = kMaxDriftPpm * kMillionth;
constexpr std::int64_t kLeastApartNs = 5'000'000;
constexpr std::size_t kLeastRounds = 5;  // rounds that a slope needs
constexpr std::size_t kMostRounds = 256;
// Ranks leave a collective of any size with at least this distance, and one that takes longer than
// a millisecond with some per cent of its length.
constexpr std::int64_t kLeastSkewNs = 1'000;
constexpr std::int64_t kLongNs = 1'000'000;
constexpr double kSkewOfLong = 0.03;
constexpr std::size_t kFewRounds = 7;
constexpr std::int64_t kMuchLonger = 4;
// Of a clock that was set: rounds of a stretch, stretches, and rounds a round that is in none.
constexpr std::size_t kLeastOfStretch = 3;
constexpr std::size_t kLeastOfExact = 2;  // where ends are no farther apart than kExactNs
constexpr double kExactNs = 5'000;
constexpr std::size_t kMostStretches = 4;
constexpr std::size_t kRoundsAStray = 10;
// A jump explains the ends if it leaves so much less than a slope does, and is so much larger than
// what it leaves.
constexpr double kBetter = 4;

std::vector<PairedRound> shortest(std::vector<PairedRound> rounds, std::size_t count) {
  std::ranges::stable_sort(rounds, {}, &PairedRound::length_ns);
  rounds.resize(std::min(count, rounds.size()));
  return rounds;
}

void drop_long(std::vector<PairedRound>& rounds, std::int64_t least_moving_ns) {
  std::erase_if(rounds, [least_moving_ns](const PairedRound& round) {
    return round.moving_ns / kMuchLonger > least_moving_ns;
  });
}

// Returns the shortest tenth of the rounds, at least seven, without those that move data much
// longer than the shortest one. The number is odd, so that the median is one of them.
std::vector<PairedRound> shortest_tenth(std::vector<PairedRound> rounds,
                                        std::int64_t least_moving_ns) {
  const std::size_t count = std::max(kFewRounds, rounds.size() / 10);
  drop_long(rounds, least_moving_ns);
  std::vector<PairedRound> few = shortest(std::move(rounds), count);
  if (few.size() % 2 == 0) few.pop_back();
  return few;
}

std::int64_t middle_of_ends(const std::vector<PairedRound>& rounds) {
  std::vector<std::int64_t> ends;
  ends.reserve(rounds.size());
  for (const PairedRound& round : rounds) ends.push_back(round.ends_ns);
  return percentile(std::move(ends), 50);
}

// The slopes for Theil-Sen; empty if no two rounds are far enough apart.
std::vector<double> slopes_between(const std::vector<PairedRound>& rounds) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < rounds.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const std::int64_t apart_ns = saturating_subtract(rounds[i].at_ns, rounds[j].at_ns);
      if (std::abs(static_cast<double>(apart_ns)) < static_cast<double>(kLeastApartNs)) continue;
      const std::int64_t parted_ns = saturating_subtract(rounds[i].ends_ns, rounds[j].ends_ns);
      slopes.push_back(static_cast<double>(parted_ns) / static_cast<double>(apart_ns));
    }
  return slopes;
}

// Returns the ends, relative to a line of that slope.
std::vector<std::int64_t> ends_off_line(const std::vector<PairedRound>& rounds, double slope) {
  std::vector<std::int64_t> off;
  off.reserve(rounds.size());
  for (const PairedRound& round : rounds) {
    const std::int64_t since_ns = saturating_subtract(round.at_ns, rounds.front().at_ns);
    off.push_back(
        saturating_subtract(round.ends_ns, std::llround(slope * static_cast<double>(since_ns))));
  }
  return off;
}

// Returns the distance from the median that 95 % of the values do not exceed.
double scatter_of(std::vector<std::int64_t> values) {
  const std::int64_t middle_ns = percentile(values, 50);
  for (std::int64_t& ns : values) ns = apart(ns, middle_ns);
  return static_cast<double>(std::max(kLeastSkewNs, percentile(std::move(values), 95)));
}

// Returns the first round after the moment before and after which the ends differ most.
std::size_t farthest_split(const std::vector<PairedRound>& rounds) {
  double mean = 0;
  for (const PairedRound& round : rounds)
    mean += static_cast<double>(round.ends_ns) / static_cast<double>(rounds.size());
  std::size_t split = 0;
  double farthest = 0;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < rounds.size(); ++i) {
    sum += static_cast<double>(rounds[i].ends_ns) - mean;
    if (std::abs(sum) <= farthest) continue;
    farthest = std::abs(sum);
    split = i + 1;
  }
  return split;
}

// Returns how far apart ranks leave collectives of this length.
double skew_of(const std::vector<PairedRound>& rounds) {
  const std::int64_t longest_ns = std::ranges::max(rounds, {}, &PairedRound::moving_ns).moving_ns;
  return static_cast<double>(kLeastSkewNs) +
         (longest_ns > kLongNs ? kSkewOfLong * static_cast<double>(longest_ns) : 0);
}

// Returns by how much the clock was set, if that explains the ends better than a line of any slope
// does; else 0. The slope is the same before and after.
std::int64_t find_jump(std::vector<PairedRound> rounds) {
  drop_long(rounds, std::ranges::min(rounds, {}, &PairedRound::moving_ns).moving_ns);
  std::ranges::stable_sort(rounds, {}, &PairedRound::at_ns);
  const std::size_t split = farthest_split(rounds);
  const std::size_t shorter = std::min(split, rounds.size() - split);
  if (shorter < kLeastOfExact) return 0;
  const double scatter_ns =
      scatter_of(ends_off_line(rounds, percentile(slopes_between(rounds), 50)));
  const auto middle = static_cast<std::ptrdiff_t>(split);
  std::vector<double> slopes = slopes_between({rounds.begin(), rounds.begin() + middle});
  const std::vector<double> later = slopes_between({rounds.begin() + middle, rounds.end()});
  slopes.insert(slopes.end(), later.begin(), later.end());
  const std::vector<std::int64_t> off = ends_off_line(rounds, percentile(std::move(slopes), 50));
  const std::vector<std::int64_t> before(off.begin(), off.begin() + middle);
  const std::vector<std::int64_t> after(off.begin() + middle, off.end());
  const double left_ns = std::max({scatter_of(before), scatter_of(after), skew_of(rounds)});
  const std::int64_t jump_ns = saturating_subtract(percentile(after, 50), percentile(before, 50));
  const bool explains = (left_ns <= kExactNs || shorter >= kLeastOfStretch) &&
                        left_ns * kBetter < scatter_ns &&
                        left_ns * kBetter < std::abs(static_cast<double>(jump_ns));
  return explains ? jump_ns : 0;
}

void find_first_and_last(std::vector<PairedRound> rounds, PairFit& fit) {
  std::ranges::stable_sort(rounds, {}, &PairedRound::at_ns);
  const auto tenth = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, rounds.size() / 10));
  fit.first_ends_ns = middle_of_ends({rounds.begin(), rounds.begin() + tenth});
  fit.last_ends_ns = middle_of_ends({rounds.end() - tenth, rounds.end()});
}

// Returns the median of the ends that are nearer to `ends_ns` than `most_ns`.
std::int64_t middle_near(const std::vector<PairedRound>& rounds, std::int64_t ends_ns,
                         std::int64_t most_ns) {
  std::vector<std::int64_t> near{ends_ns};
  for (const PairedRound& round : rounds)
    if (apart(round.ends_ns, ends_ns) < most_ns) near.push_back(round.ends_ns);
  return percentile(std::move(near), 50);
}

// The ends of single rounds scatter, so all ends near those of the two rounds are used.
std::int64_t largest_change(const std::vector<PairedRound>& rounds) {
  const auto low_of = [](const PairedRound& round) { return round.ahead.low_ns; };
  const auto high_of = [](const PairedRound& round) { return round.ahead.high_ns; };
  const PairedRound& high = *std::ranges::max_element(rounds, {}, low_of);
  const PairedRound& low = *std::ranges::min_element(rounds, {}, high_of);
  const std::int64_t least_ns = saturating_subtract(high.ahead.low_ns, low.ahead.high_ns);
  const std::int64_t near_ns = apart(high.ends_ns, low.ends_ns) / 4;
  return std::max(least_ns, saturating_subtract(middle_near(rounds, high.ends_ns, near_ns),
                                                middle_near(rounds, low.ends_ns, near_ns)));
}

// Rounds that are matched wrongly contradict each other all the time, which a few cannot show. A
// round in which the clock was set may fit neither side.
bool hold_in_stretches(std::vector<PairedRound> rounds) {
  constexpr ClockRange kAll{std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max()};
  std::ranges::stable_sort(rounds, {}, &PairedRound::at_ns);
  std::size_t parts = 0;
  std::size_t stretches = 0;
  std::size_t strays = 0;
  ClockRange range = kAll;
  std::size_t length = 0;
  const auto end_stretch = [&] {
    const bool is_stretch = length >= kLeastOfStretch;
    ++parts;
    stretches += is_stretch ? 1 : 0;
    strays += is_stretch ? 0 : length;
    range = kAll;
    length = 0;
  };
  for (const PairedRound& round : rounds) {
    if (std::max(range.low_ns, round.ahead.low_ns) > std::min(range.high_ns, round.ahead.high_ns))
      end_stretch();
    range.low_ns = std::max(range.low_ns, round.ahead.low_ns);
    range.high_ns = std::min(range.high_ns, round.ahead.high_ns);
    ++length;
  }
  end_stretch();
  return parts <= kMostStretches ||
         (stretches > 1 && stretches <= kMostStretches &&
          strays <= std::max<std::size_t>(1, rounds.size() / kRoundsAStray));
}

}  // namespace

ClockSlope slope_of(const std::vector<PairedRound>& rounds) {
  ClockSlope unknown{.uncertainty = kMostSlope};
  const std::vector<PairedRound> few =
      shortest(rounds, std::min(kMostRounds, std::max(kMostRounds / 4, rounds.size() / 10)));
  std::vector<double> slopes = slopes_between(few);
  if (few.size() < kLeastRounds || slopes.empty()) return unknown;
  const double slope = percentile(std::move(slopes), 50);
  const double scatter_ns = scatter_of(ends_off_line(few, slope));
  unknown.jump_ns = find_jump(few);
  if (unknown.jump_ns != 0) return unknown;
  const auto [first, last] = std::ranges::minmax(few, {}, &PairedRound::at_ns);
  const std::int64_t span_ns = saturating_subtract(last.at_ns, first.at_ns);
  const double uncertainty = 2 * scatter_ns / static_cast<double>(span_ns);
  if (uncertainty > kMostSlope) return unknown;
  if (std::abs(slope) > 2 * kMostSlope) {
    const double drift_ns = std::abs(slope) * static_cast<double>(span_ns);
    if (drift_ns > kBetter * std::max(scatter_ns, skew_of(few))) unknown.excess = slope;
    return unknown;
  }
  return {.slope = slope, .uncertainty = uncertainty};
}

PairFit fit_pair(const std::vector<PairedRound>& rounds) {
  PairFit fit;
  fit.moving_ns = rounds.front().moving_ns;
  for (const PairedRound& round : rounds) {
    fit.ahead.low_ns = std::max(fit.ahead.low_ns, round.ahead.low_ns);
    fit.ahead.high_ns = std::min(fit.ahead.high_ns, round.ahead.high_ns);
    fit.moving_ns = std::min(fit.moving_ns, round.moving_ns);
  }
  const std::vector<PairedRound> few = shortest_tenth(rounds, fit.moving_ns);
  fit.ends_ns = middle_of_ends(few);
  std::vector<std::int64_t> scatter;
  scatter.reserve(few.size());
  for (const PairedRound& round : few) scatter.push_back(apart(round.ends_ns, fit.ends_ns));
  fit.scatter_ns = percentile(std::move(scatter), 95);
  std::vector<std::int64_t> residuals;
  residuals.reserve(rounds.size());
  for (const PairedRound& round : rounds) residuals.push_back(apart(round.ends_ns, fit.ends_ns));
  fit.residual_p50_ns = percentile(residuals, 50);
  fit.residual_p95_ns = percentile(std::move(residuals), 95);
  find_first_and_last(rounds, fit);
  if (!fit.is_contradiction()) return fit;
  fit.was_set = hold_in_stretches(rounds);
  fit.change_ns = largest_change(rounds);
  return fit;
}

}  // namespace traceloom
