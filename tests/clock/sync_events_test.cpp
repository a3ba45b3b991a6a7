#include "clock/clock_syncs.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace traceloom;

namespace {

constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max();

// "offset +-error" of each file, "-" for one without a place.
std::vector<std::string> places(const std::vector<SyncNode>& files) {
  std::vector<std::string> words;
  for (const std::optional<SyncPlace>& place : place_by_sync_events(files))
    words.push_back(
        place ? std::to_string(place->offset_ns) + " +-" + std::to_string(place->error_ns) : "-");
  return words;
}

using Words = std::vector<std::string>;
using Groups = std::vector<std::vector<std::size_t>>;

}  // namespace

TEST_CASE("sync_events: one shared moment gives the offset") {
  CHECK(places({{{{"a", 5'000, 10}}, 7}, {{{"a", 9'000, 200}}, {}}}) ==
        Words{"7 +-0", "-3993 +-210"});
}

TEST_CASE("sync_events: of several moments the one with the smallest error counts") {
  CHECK(places({{{{"a", 0, 100}, {"b", 1000, 30}}, 0}, {{{"a", 50, 0}, {"b", 1060, 60}}, {}}}) ==
        Words{"0 +-0", "-60 +-90"});
}

TEST_CASE("sync_events: places are handed on, by the way with the smallest error") {
  // The path 0 - 1 - 2 has the error 30 + 5, the path 0 - 2 has 50; 3 is linked to 2 only, 4 is
  // not.
  CHECK(places({{{{"01", 0, 10}, {"02", 0, 25}}, 0},
                {{{"01", 100, 20}, {"12", 500, 2}}, {}},
                {{{"02", 999, 25}, {"12", 700, 3}, {"23", 0, 0}}, {}},
                {{{"23", 4, 1}}, {}},
                {{{"z", 4, 1}}, {}}}) ==
        Words{"0 +-0", "-100 +-30", "-300 +-35", "-304 +-36", "-"});
}

TEST_CASE("sync_events: a file between two known places goes by the nearer one") {
  CHECK(places({{{{"a", 0, 9}}, 0}, {{{"a", 5, 0}, {"b", 5, 0}}, {}}, {{{"b", 0, 8}}, 100}}) ==
        Words{"0 +-0", "95 +-8", "100 +-0"});
}

TEST_CASE("sync_events: moments that do not fit lead nowhere") {
  CHECK(places({{{{"a", kMaxNs, 0}, {"b", 0, kMaxNs}}, 1}, {{{"a", 0, 0}, {"b", 0, 1}}, {}}}) ==
        Words{"1 +-0", "-"});
}

TEST_CASE("sync_events: groups are those that ids connect") {
  const std::vector<SyncNode> files{{{{"a", 0, 0}}, {}},  {{{"x", 0, 0}}, {}},
                                    {{{"b", 0, 0}}, 5},   {{{"a", 0, 0}, {"c", kMaxNs, 0}}, {}},
                                    {{{"c", -9, 0}}, {}}, {},
                                    {{{"b", 0, 0}}, {}}};
  CHECK(connected_by_sync_events(files) == Groups{{0, 3, 4}, {2, 6}});
  CHECK(connected_by_sync_events({}).empty());
}
