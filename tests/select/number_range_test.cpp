#include "select/selection.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("number_range: a list of numbers and ranges, both ends of which belong to it") {
  const std::vector<NumberRange> ranges = parse_number_ranges("0,4-7,12-12").value();
  for (const std::int64_t number : {0, 4, 5, 7, 12}) CHECK(is_in(ranges, number));
  for (const std::int64_t number : {1, 3, 8, 11, 13}) CHECK_FALSE(is_in(ranges, number));
  CHECK_FALSE(is_in({}, 0));
}

TEST_CASE("number_range: anything else is no list") {
  for (const char* text :
       {"", ",", "1,", "a", "-1", "1-", "1-2-3", "1.5", " 1", "1:2", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number_ranges(text).has_value());
  }
  CHECK(parse_number_ranges("7-4").value()[0].last == 4);
}
