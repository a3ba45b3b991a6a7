#include "flows/flow_arrows.h"
#include "merge/survey/linked_events.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

using namespace traceloom;

namespace {

// The answer at each place: '+' kept, '-' dropped, '?' no slice.
std::string answers(const std::vector<FlowPlace>& places, const std::vector<FlowSlice>& slices) {
  FlowBinder binder(places);
  for (const FlowSlice& slice : slices)
    if (binder.touches(slice)) binder.add(slice);
  binder.finish();
  std::string text;
  for (const FlowPlace& place : places) {
    const std::optional<bool> kept = binder.kept_at(place);
    text += !kept ? '?' : *kept ? '+' : '-';
  }
  return text;
}

bool next_by_raw(const std::string& raw) {
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(raw, 0, Position::first, problems);
  return binds_to_next_slice(*scanner.next());
}

}  // namespace

TEST_CASE("flow_binder: the innermost slice around decides, whatever the order") {
  std::vector<FlowSlice> slices{{0, 100, 1, true}, {10, 50, 1, false}, {20, 30, 1, true}};
  const std::vector<FlowPlace> places{{5, 1}, {10, 1}, {20, 1}, {30, 1}, {31, 1}, {50, 1}, {51, 1}};
  do {
    CHECK(answers(places, slices) == "+-++--+");
  } while (std::next_permutation(
      slices.begin(), slices.end(),
      [](const FlowSlice& a, const FlowSlice& b) { return a.start_ns < b.start_ns; }));
}

TEST_CASE("flow_binder: both ends belong to a slice, and rows are apart") {
  CHECK(answers({{9, 1}, {10, 1}, {20, 1}, {21, 1}, {15, 2}, {15, 0}}, {{10, 20, 1, true}}) ==
        "?++???");
  CHECK(answers({{10, 1}}, {{10, 10, 1, true}}) == "+");
}

TEST_CASE("flow_binder: of slices that begin together the shortest is the inner one") {
  CHECK(answers({{10, 1}, {13, 1}}, {{10, 20, 1, true}, {10, 12, 1, false}}) == "-+");
}

TEST_CASE("flow_binder: of slices that begin and end together one that stays is enough") {
  CHECK(answers({{10, 1}}, {{10, 12, 1, true}, {10, 12, 1, false}}) == "+");
  CHECK(answers({{10, 1}}, {{10, 12, 1, false}, {10, 12, 1, true}}) == "+");
  CHECK(answers({{10, 1, true}}, {{11, 12, 1, false}, {11, 12, 1, true}}) == "+");
}

TEST_CASE("flow_binder: one that waits for the next slice takes the longest of those") {
  const std::vector<FlowPlace> places{
      {5, 1, true}, {10, 1, true}, {11, 1, true}, {31, 1, true}, {5, 2, true}};
  CHECK(answers(places, {{0, 100, 1, false}, {10, 20, 1, true}, {30, 40, 1, false}}) == "++-??");
  CHECK(answers(places, {{10, 12, 1, false}, {10, 20, 1, true}}) == "++???");
  CHECK(answers({{10, 1}, {10, 1, true}}, {{5, 20, 1, true}, {12, 13, 1, false}}) == "+-");
}

TEST_CASE("flow_binder: no places, or none that is asked for") {
  FlowBinder binder;
  CHECK_FALSE(binder.touches({0, 10, 0, true}));
  binder.finish();
  CHECK_FALSE(binder.kept_at({5, 0}).has_value());
}

TEST_CASE("flow_binder: many random slices give what a search through all of them gives") {
  std::mt19937_64 random(5);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<FlowPlace> places;
    for (std::int64_t i = below(20); i >= 0; --i)
      places.push_back({below(60), static_cast<std::uint32_t>(below(2)), false});
    std::vector<FlowSlice> slices;
    for (std::int64_t i = below(40); i > 0; --i) {
      const std::int64_t start = below(50);
      slices.push_back({start, start + below(20), static_cast<std::uint32_t>(below(2)), false});
      slices.back().kept = (slices.back().start_ns + slices.back().end_ns) % 3 == 0;
    }
    std::string wanted;
    for (const FlowPlace& place : places) {
      const FlowSlice* best = nullptr;
      for (const FlowSlice& slice : slices)
        if (slice.row == place.row && slice.start_ns <= place.ns && slice.end_ns >= place.ns &&
            (best == nullptr || slice.start_ns > best->start_ns ||
             (slice.start_ns == best->start_ns && slice.end_ns < best->end_ns)))
          best = &slice;
      wanted += best == nullptr ? '?' : best->kept ? '+' : '-';
    }
    REQUIRE(answers(places, slices) == wanted);
  }
}

TEST_CASE("flow_binder: an f without bp e binds to the next slice, nothing else does") {
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"bp":"n"})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"bp":null})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"bp","ts":1})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"bp":"e"})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"bp" : "e"})"));
  CHECK_FALSE(next_by_raw("{\"ph\":\"f\",\"ts\":1,\"bp\"\t:\n\"e\" }"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","bp":"e","ts":1})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"s","name":"a","cat":"c","ts":1})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"t","name":"a","cat":"c","ts":1,"bp":"n"})"));
}

TEST_CASE("flow_binder: bp is a member of the event itself, and the last of two counts") {
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"args":{"bp":"e"}})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","args":{"bp":"e"},"ts":1,"bp":"n"})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","args":{"bp":"n"},"ts":1,"bp":"e"})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","args":{"bp":"n"},"bp":"e","ts":1})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"bp","bp":"e","ts":1})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","ts":1,"a\"bp":"e"})"));
  CHECK(next_by_raw(R"({"ph":"f","name":"a","cat":"c","bp":"e","ts":1,"bp":"n"})"));
  CHECK_FALSE(next_by_raw(R"({"ph":"f","name":"a","cat":"c","bp":"n","ts":1,"bp":"e"})"));
}
