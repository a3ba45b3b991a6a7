#include "run/intervals.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace traceloom;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Makes intervals mostly in time order or in any order; a few are empty or reversed.
Intervals random_pieces(std::mt19937& random, bool ordered) {
  const auto number = [&](int from, int to) {
    return std::uniform_int_distribution(from, to)(random);
  };
  const int unit = number(0, 1) == 0 ? 1 : 1000;
  Intervals pieces;
  for (int i = number(0, 60); i > 0; --i) {
    const int from = ordered && number(0, 9) > 0 ? 600 - 10 * i + number(0, 9) : number(-50, 650);
    pieces.push_back({from * unit, (from + number(-2, 12)) * unit});
  }
  return pieces;
}

PackedIntervals packed(const Intervals& pieces) {
  IntervalPacker packer;
  for (const Interval& piece : pieces) packer.add(piece);
  return packer.finish();
}

}  // namespace

TEST_CASE("packed intervals: are the united ones, in whatever order they come") {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    const Intervals pieces = random_pieces(random, i % 2 == 0);
    const PackedIntervals set = packed(pieces);
    CHECK(unpacked(set) == unite(pieces));
    CHECK(total_ns(set) == total_ns(unite(pieces)));
  }
}

TEST_CASE("packed intervals: what does not fit is cut to what does") {
  const PackedIntervals set = packed({{10, kMost}, {kLeast, -10}});
  CHECK(unpacked(set) == Intervals{{kLeast, -10}, {10, kMost}});
  CHECK(total_ns(set) == kMost);
}

TEST_CASE("packed intervals: each window gets what has an instant in it") {
  std::mt19937 random(2);
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    const Intervals all = unite(random_pieces(random, false));
    const PackedIntervals set = packed(all);
    IntervalWindows windows(set);
    for (std::int64_t from = -60'000; from < 700'000;) {
      const std::int64_t to = from + std::uniform_int_distribution(1, 60'000)(random);
      Intervals expected;
      for (const Interval& piece : all)
        if (piece.from_ns < to && piece.to_ns > from) expected.push_back(piece);
      CHECK(windows.in({from, to}) == expected);
      from = to + std::uniform_int_distribution(0, 3000)(random);
    }
  }
}
