#include "clock/clock_syncs.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
using Knots = std::vector<TimeMap::Knot>;

}  // namespace

TEST_CASE(
    "drift: up to 500 ppm a clock drifts, more is a step unless the syncs may be that far off") {
  const SyncPoint first{0, 100, 1000};
  CHECK(change_between(first, {kSecond, 500'100, 1000}) == ClockChange::drift);
  CHECK(change_between(first, {kSecond, -499'900, 1000}) == ClockChange::drift);
  CHECK(change_between(first, {kSecond, 500'101, 1000}) == ClockChange::unsure);
  CHECK(change_between(first, {kSecond, 502'100, 1000}) == ClockChange::unsure);
  CHECK(change_between(first, {kSecond, 502'101, 1000}) == ClockChange::step);
  CHECK(change_between(first, {kSecond, -501'901, 1000}) == ClockChange::step);
  // Errors of more than the drift that they should show.
  CHECK(change_between({0, 0, 250'000}, {kSecond, 40'000, 250'000}) == ClockChange::drift);
  CHECK(change_between({0, 0, 250'000}, {kSecond, 40'000, 250'001}) == ClockChange::unsure);
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  CHECK(change_between({-kLast, kLast, 0}, {kLast, -kLast, 0}) == ClockChange::step);
}

TEST_CASE("drift: reaches as far as the clock only drifts") {
  const std::vector<SyncPoint> points{{0, 0, 0},
                                      {kSecond, -40'000, 0},
                                      {3 * kSecond, 0, 0},
                                      {4 * kSecond, 5 * kSecond, 0},
                                      {5 * kSecond, 9 * kSecond, 0},
                                      {6 * kSecond, 9 * kSecond + 123'457, 0}};
  for (const std::size_t index : {0U, 1U, 2U})
    CHECK(drifts_of(points)[index].line->knots ==
          Knots{{0, 0}, {kSecond, -40'000}, {3 * kSecond, 0}});
  CHECK(drifts_of(points)[0].ppm == 40);
  CHECK(drifts_of(points)[1].ppm == -20);
  CHECK(drifts_of(points)[2].ppm == -20);
  CHECK(drifts_of(points)[3].line->knots == Knots{{4 * kSecond, 5 * kSecond}});
  CHECK_FALSE(drifts_of(points)[3].ppm.has_value());
  CHECK(drifts_of(points)[4].ppm == -123.457);
  CHECK(drifts_of(points)[5].line->knots.size() == 2);
}
