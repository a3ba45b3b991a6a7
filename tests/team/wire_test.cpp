#include "team/wire.h"

#include "base/problems.h"
#include "clock/time_map.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

struct Part {
  std::string name;
  std::vector<std::int64_t> times;
  bool operator==(const Part&) const = default;
};

struct Whole {
  std::vector<Part> parts;
  std::map<std::string, std::pair<std::string, int>, std::less<>> named;
  std::set<std::tuple<std::int64_t, std::string>> marks;
  std::optional<std::string> text;
  std::optional<std::int64_t> number;
  double share = 0;
  bool operator==(const Whole&) const = default;
};

Whole some() {
  return {{{"a", {1, -2}}, {std::string("\0b", 2), {}}},
          {{"k", {"v", 3}}},
          {{4, "m"}, {5, ""}},
          "text",
          std::nullopt,
          0.25};
}

}  // namespace

TEST_CASE("wire: values come back as they were") {
  CHECK(from_wire<Whole>(to_wire(some())) == some());
  CHECK(from_wire<Whole>(to_wire(Whole{})) == Whole{});
}

TEST_CASE("wire: no cut of a message is read as a whole one") {
  const std::string bytes = to_wire(some());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(from_wire<Whole>(std::string_view(bytes).substr(0, size)),
                         "a message of another process: it is cut", Error);
  }
}

TEST_CASE("wire: a size that cannot be needs no memory") {
  const std::string bytes = to_wire(std::uint64_t{1} << 60);
  CHECK_THROWS_AS(from_wire<std::vector<std::int64_t>>(bytes), Error);
  CHECK_THROWS_AS(from_wire<std::vector<std::string>>(bytes), Error);
  CHECK_THROWS_AS(from_wire<std::string>(bytes), Error);
}

TEST_CASE("wire: problems keep their counts, offsets and words") {
  ProblemCounts problems;
  problems.add(Problem::cut_event, 8812, 3);
  problems.explain(Problem::cut_event, "in the middle");
  const auto same = from_wire<ProblemCounts>(to_wire(problems));
  CHECK(same.count(Problem::cut_event) == 3);
  CHECK(same.first_offset(Problem::cut_event) == 8812);
  CHECK(same.explanation(Problem::cut_event) == "in the middle");
}

TEST_CASE("wire: a map of times keeps its line, its cycles and its limits") {
  const auto line =
      std::make_shared<const TimeMap::Line>(std::vector<TimeMap::Knot>{{0, 10}, {1'000'000, 510}});
  const TimeMap drifting(5, 7, line);
  for (const TimeMap& times : {TimeMap(42), drifting, drifting.since(1000),
                               TimeMap::joined(3, {{0, 10, TimeMap(1)}, {20, 30, drifting}})}) {
    TimeMap limited = times;
    limited.limit_to(-5, 5'000'000);
    CHECK(from_wire<TimeMap>(to_wire(limited)) == limited);
  }
}
