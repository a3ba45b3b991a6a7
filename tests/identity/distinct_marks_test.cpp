#include "identity/evidence/event_marks.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("distinct_marks: keeps each value of each pid once, in the order met") {
  DistinctMarks marks;
  CHECK(marks.empty());
  marks.add({7, "1", 100});
  marks.add({5, "1", 200});
  marks.add({7, "1", 300});
  marks.add({7, "2", 400});
  REQUIRE(marks.size() == 3);
  CHECK(marks.front().value == 7);
  CHECK(marks.front().offset == 100);
  CHECK(std::next(marks.begin())->value == 5);
  CHECK(std::prev(marks.end())->pid == "2");
  CHECK(std::prev(marks.end())->offset == 400);
  CHECK(marks.names("2"));
  CHECK_FALSE(marks.names("7"));
}

TEST_CASE("distinct_marks: adds those of a later part behind its own") {
  DistinctMarks first;
  first.add({1, "0", 10});
  DistinctMarks later;
  later.add({1, "0", 90});
  later.add({2, "0", 95});
  first.add(later);
  REQUIRE(first.size() == 2);
  CHECK(first.front().offset == 10);
  CHECK(std::prev(first.end())->offset == 95);
  CHECK(first.names("0"));
}

TEST_CASE("distinct_marks: stops at its limit") {
  DistinctMarks marks;
  for (std::int64_t i = 0; i < 100'002; ++i) marks.add({i, "", 0});
  CHECK(marks.size() == 100'000);
  CHECK(std::prev(marks.end())->value == 99'999);
}
