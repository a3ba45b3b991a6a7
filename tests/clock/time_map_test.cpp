#include "clock/time_map.h"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kFirstNs = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLastNs = std::numeric_limits<std::int64_t>::max();

std::int64_t mapped(const TimeMap& times, std::int64_t ns) {
  std::int64_t result = 0;
  REQUIRE(times.map(ns, result));
  return result;
}

// Returns the time itself if it does not fit.
std::int64_t mapped_end(const TimeMap& times, std::int64_t start_ns, std::int64_t end_ns) {
  std::int64_t result = 0;
  return times.map_end(start_ns, end_ns, result) ? result : end_ns;
}

std::shared_ptr<const TimeMap::Line> along(std::vector<TimeMap::Knot> knots) {
  return std::make_shared<const TimeMap::Line>(std::move(knots));
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
  CHECK_FALSE(TimeMap(1).map(kLastNs, ignored));
  CHECK_FALSE(TimeMap(-1).map(kFirstNs, ignored));
  CHECK(TimeMap(1).mapped_or_same(kLastNs) == kLastNs);
  CHECK(TimeMap(1).mapped_or_same(4) == 5);
}

TEST_CASE("time_map: to a time that begins elsewhere") {
  const TimeMap times = TimeMap(1000, -7).since(10);
  CHECK(times == TimeMap(990, -17));
  CHECK(times != TimeMap(990, -16));
  CHECK(TimeMap(kFirstNs).since(1) == TimeMap(kFirstNs));
  CHECK(TimeMap(kLastNs).since(-1) == TimeMap(kLastNs));
}

TEST_CASE("time_map: a shift that drifts is straight between knots and constant outside") {
  const TimeMap times(50, 0, along({{1000, 7}, {3000, -3}, {4000, 0}}));
  REQUIRE(times.has_drift());
  CHECK(mapped(times, 0) == 57);
  CHECK(mapped(times, 950) == 1007);
  CHECK(mapped(times, 1150) == 1206);  // 7 - 1
  CHECK(mapped(times, 1151) == 1206);  // 7 - 1.005, rounded down
  CHECK(mapped(times, 2950) == 2997);
  CHECK(mapped(times, 3450) == 3498);  // -3 + 1.5, rounded down
  CHECK(mapped(times, 9000) == 9050);
  CHECK(mapped(times, kFirstUnixNs) == kFirstUnixNs);
  const TimeMap later = times.since(20);
  CHECK(mapped(later, 1151) == 1186);
  CHECK(later != times);
}

TEST_CASE("time_map: knots that say the same are no drift") {
  CHECK(TimeMap(50, 3, along({{1000, 7}, {3000, 7}})) == TimeMap(57, 10));
  CHECK(TimeMap(50, 3, along({{1000, 7}})) == TimeMap(57, 10));
  CHECK(TimeMap(50, 3, along({})) == TimeMap(50, 3));
  CHECK_FALSE(TimeMap(50, 3, along({{1000, 7}})).has_drift());
}

TEST_CASE("time_map: joined cycles shift each its own times, and durations stay") {
  const TimeMap times = TimeMap::joined(
      100, {{1000, 1500, TimeMap(105)}, {2000, 2500, TimeMap(93)}, {3000, 3500, TimeMap(104)}});
  CHECK_FALSE(times.has_drift());
  CHECK(mapped(times, 0) == 105);
  CHECK(mapped(times, 1899) == 2004);
  CHECK(mapped(times, 1900) == 1993);
  CHECK(mapped(times, 2899) == 2992);
  CHECK(mapped(times, 2900) == 3004);
  CHECK(mapped(times, 9000) == 9104);
  CHECK(mapped(times.since(4), 1900) == 1989);
  CHECK(mapped_end(times, 1899, 5000) == 5105);
  CHECK(mapped_end(times.since(4), 1900, 5000) == 5089);
  CHECK(mapped_end(times, 2900, kLastNs) == kLastNs);
  CHECK(TimeMap::joined(100, {{1000, 1500, TimeMap(105)}, {2000, 2500, TimeMap(105)}}) ==
        TimeMap(105));
}

TEST_CASE("time_map: joined cycles keep their drift, and an end goes by that of its start") {
  const TimeMap line(100, 100, along({{1000, 10}, {2000, 20}, {3000, 40}}));
  CHECK(TimeMap::joined(100, {{1100, 1200, line}, {2100, 2200, line}}) == line);
  const TimeMap stepped = TimeMap::joined(100, {{1100, 1200, line}, {2500, 2600, TimeMap(-900)}});
  CHECK(stepped.has_drift());
  for (std::int64_t ns = 0; ns < 1900; ns += 7) CHECK(mapped(stepped, ns) == mapped(line, ns));
  CHECK(mapped(stepped, 2399) == mapped(line, 2399));
  CHECK(mapped(stepped, 2400) == 1500);
  CHECK(mapped(stepped, 9000) == 8100);
  CHECK(mapped_end(stepped, 2399, 2900) == mapped(line, 2900));
  CHECK(mapped_end(stepped, 2400, 2900) == 2000);
}

TEST_CASE("time_map: the earliest and the latest of times are among its bounds") {
  using Times = std::vector<std::int64_t>;
  const auto bounds = [](const TimeMap& times, std::int64_t first_ns, std::int64_t last_ns) {
    Times found;
    times.for_each_bound(first_ns, last_ns, [&](std::int64_t ns) { found.push_back(ns); });
    return found;
  };
  CHECK(bounds(TimeMap(3), 5, 9) == Times{5, 9});
  // The second cycle was before the first, by a clock that was set back.
  const TimeMap set_back = TimeMap::joined(
      100, {{1000, 1200, TimeMap(5000)}, {2000, 2300, TimeMap(0)}, {3000, 3300, TimeMap(100)}});
  CHECK(bounds(set_back, 900, 3250) == Times{900, 1100, 1900, 2200, 2900, 3250});
  CHECK(bounds(set_back, 900, 1300) == Times{900, 1300});  // inside the first piece only
  CHECK(bounds(set_back, 1150, 1950) == Times{1150, 1150, 1900, 1950});
  CHECK(bounds(set_back, 2850, 2850) == Times{2850, 2850});  // between two pieces
  CHECK(bounds(set_back, 7000, 8000) == Times{7000, 8000});
  CHECK(bounds(set_back, kFirstNs, kLastNs) ==
        Times{kFirstNs, 1100, 1900, 2200, 2900, kLastNs - 100});
}

TEST_CASE("time_map: drift never turns the order of times, and is exact at the knots") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<TimeMap::Knot> knots;
    std::int64_t at_ns = 1'795'202'969'000'000'000;
    std::int64_t shift_ns =
        static_cast<std::int64_t>(random() % 9'000'000'000'000) - 4'000'000'000'000;
    for (int i = 0; i < 4; ++i) {
      knots.push_back({at_ns, shift_ns});
      const std::int64_t step =
          1 + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 5000 : 90'000'000'000'000));
      at_ns += step;
      shift_ns +=
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(step / 1000 + 1)) -
          step / 2000;
    }
    const TimeMap times(0, 0, along(knots));
    for (const TimeMap::Knot& knot : knots)
      CHECK(mapped(times, knot.at_ns) == knot.at_ns + knot.shift_ns);
    for (int i = 0; i < 50; ++i) {
      const std::int64_t ns =
          knots.front().at_ns - 100 +
          static_cast<std::int64_t>(random() %
                                    static_cast<std::uint64_t>(at_ns - knots.front().at_ns));
      REQUIRE(mapped(times, ns) <= mapped(times, ns + 1));
    }
  }
}
