#include "select/selection.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("time_selection: two durations, either of which may be absent") {
  const TimeSelection both = TimeSelection::parse("1.5s:2s").value();
  CHECK(both.from_ns == 1'500'000'000);
  CHECK(both.to_ns == 2'000'000'000);
  const TimeSelection from = TimeSelection::parse("200ms:").value();
  CHECK(from.from_ns == 200'000'000);
  CHECK_FALSE(from.to_ns.has_value());
  const TimeSelection to = TimeSelection::parse(":7us").value();
  CHECK_FALSE(to.from_ns.has_value());
  CHECK(to.to_ns == 7'000);
  CHECK(TimeSelection::parse(":").has_value());
  CHECK(TimeSelection::parse("0:1s").value().from_ns == 0);
  CHECK(TimeSelection::parse("1s:1s").has_value());
}

TEST_CASE("time_selection: anything else is refused") {
  for (const char* text : {"", "1s", "1:2", "2s:1s", "a:b", "1s:2s:3s", "1s-2s"}) {
    CAPTURE(text);
    CHECK_FALSE(TimeSelection::parse(text).has_value());
  }
}

TEST_CASE("time_window: is half-open") {
  const TimeWindow window{10, 20};
  CHECK_FALSE(window.contains(9));
  CHECK(window.contains(10));
  CHECK(window.contains(19));
  CHECK_FALSE(window.contains(20));
  CHECK(TimeWindow{}.contains(0));
}
