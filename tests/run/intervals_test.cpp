#include "run/intervals.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kEnd = 60;

Intervals few_random_pieces(std::mt19937& random) {
  Intervals pieces;
  for (int i = std::uniform_int_distribution(0, 8)(random); i > 0; --i) {
    const std::int64_t from = std::uniform_int_distribution<std::int64_t>(0, kEnd - 1)(random);
    pieces.push_back({from, std::min(kEnd, from + std::uniform_int_distribution(0, 12)(random))});
  }
  return pieces;
}

std::vector<bool> instants(const Intervals& pieces) {
  std::vector<bool> held(kEnd);
  for (const Interval& piece : pieces)
    for (std::int64_t ns = piece.from_ns; ns < piece.to_ns; ++ns) held[ns] = true;
  return held;
}

Intervals set_of(const std::vector<bool>& held) {
  Intervals set;
  for (std::int64_t ns = 0; ns < kEnd; ++ns) {
    if (!held[ns]) continue;
    if (!set.empty() && set.back().to_ns == ns)
      ++set.back().to_ns;
    else
      set.push_back({ns, ns + 1});
  }
  return set;
}

}  // namespace

TEST_CASE("intervals: overlapping and touching pieces become one, empty ones nothing") {
  CHECK(unite({{5, 9}, {0, 3}, {3, 5}, {20, 20}, {30, 25}}) == Intervals{{0, 9}});
  CHECK(unite({}).empty());
}

TEST_CASE("intervals: sets are those of their instants, for random pieces") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Intervals first = few_random_pieces(random);
    const Intervals second = few_random_pieces(random);
    std::vector<bool> both = instants(first);
    std::vector<bool> rest = instants(first);
    for (std::size_t i = 0; i < both.size(); ++i) {
      both[i] = both[i] && instants(second)[i];
      rest[i] = rest[i] && !instants(second)[i];
    }
    const Intervals a = unite(first);
    const Intervals b = unite(second);
    CHECK(a == set_of(instants(first)));
    CHECK(intersect(a, b) == set_of(both));
    CHECK(subtract(a, b) == set_of(rest));
    CHECK(total_ns(a) == total_ns(intersect(a, b)) + total_ns(subtract(a, b)));
    const std::vector<std::int64_t> halves = totals_in(a, {{0, 30}, {30, 60}});
    CHECK(halves[0] == total_ns(intersect(a, {{0, 30}})));
    CHECK(halves[0] + halves[1] == total_ns(a));
  }
}

TEST_CASE("intervals: windows may be empty, and a piece may lie in several of them") {
  CHECK(totals_in({{0, 10}, {15, 20}}, {{2, 2}, {2, 5}, {5, 17}, {50, 60}}) ==
        std::vector<std::int64_t>{0, 3, 7, 0});
}

TEST_CASE("intervals: a total that does not fit is cut to what does") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(total_ns({{kMin, kMax}}) == kMax);
  CHECK(total_ns({{kMin, 0}, {1, kMax}}) == kMax);
}
