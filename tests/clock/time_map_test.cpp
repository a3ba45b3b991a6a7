#include "clock/time_map.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t mapped(const TimeMap& times, std::int64_t ns) {
  std::int64_t result = 0;
  REQUIRE(times.map(ns, result));
  return result;
}

}  // namespace

TEST_CASE(
    "time_map: shifts every time by the same, or relative times and Unix times each by theirs") {
  CHECK(mapped(TimeMap(), 17) == 17);
  CHECK(mapped(TimeMap(-5), kFirstUnixNs) == kFirstUnixNs - 5);
  const TimeMap mixed(1000, -7);
  CHECK(mapped(mixed, -3) == 997);
  CHECK(mapped(mixed, kFirstUnixNs - 1) == kFirstUnixNs + 999);
  CHECK(mapped(mixed, kFirstUnixNs) == kFirstUnixNs - 7);
}

TEST_CASE("time_map: says what does not fit") {
  std::int64_t ignored = 0;
  CHECK_FALSE(TimeMap(1).map(kMax, ignored));
  CHECK_FALSE(TimeMap(-1).map(kMin, ignored));
  CHECK(TimeMap(1).mapped_or_same(kMax) == kMax);
  CHECK(TimeMap(1).mapped_or_same(4) == 5);
}

TEST_CASE("time_map: to a time that begins elsewhere") {
  const TimeMap times = TimeMap(1000, -7).since(10);
  CHECK(times == TimeMap(990, -17));
  CHECK(times != TimeMap(990, -16));
  CHECK(TimeMap(kMin).since(1) == TimeMap(kMin));
  CHECK(TimeMap(kMax).since(-1) == TimeMap(kMax));
}
