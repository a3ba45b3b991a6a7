#include "digest/records.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace traceloom::digest;

namespace {

std::string text_of(const Decimal& decimal) {
  std::string text;
  append_decimal(decimal, text);
  return text;
}

std::string text_of_tick(std::int64_t tick) {
  std::string text;
  append_tick(tick, text);
  return text;
}

}  // namespace

TEST_CASE("parse_decimal: digits and places") {
  const auto check = [](const char* text, std::int64_t digits, unsigned places) {
    CAPTURE(text);
    const std::optional<Decimal> decimal = parse_decimal(text);
    REQUIRE(decimal);
    CHECK(decimal->digits == digits);
    CHECK(decimal->places == places);
    CHECK(text_of(*decimal) == text);
  };
  check("0", 0, 0);
  check("-12.50", -1250, 2);
  check("0.0", 0, 1);
  check("0.001", 1, 3);
  check("-0.5", -5, 1);
  check("1689179602551734", 1689179602551734, 0);
  check("999999999999999999", 999999999999999999, 0);
  check("0.99999999999999999", 99999999999999999, 17);
}

TEST_CASE("parse_decimal: what append_decimal() would write otherwise is refused") {
  for (const char* text : {"", "-", "-0", "-0.0", "00", "01.5", ".5", "1.", "1.2.3", "1e5", "+1",
                           "0x10", "--1", "1-", "1234567890123456789", "NaN"}) {
    CAPTURE(text);
    CHECK(!parse_decimal(text));
  }
}

TEST_CASE("append_decimal: the least and the greatest number, and every count of places") {
  CHECK(text_of({std::numeric_limits<std::int64_t>::min(), 0}) == "-9223372036854775808");
  CHECK(text_of({std::numeric_limits<std::int64_t>::max(), 18}) == "9.223372036854775807");
  CHECK(text_of({7, kMostPlaces}) == "0.000000000000000007");
}

TEST_CASE("parse_tick: microseconds of Python's clock, and no other number") {
  CHECK(parse_tick("24228847.50366211") == 101623152);
  CHECK(parse_tick("453.2337188720703") == 1901);
  CHECK(parse_tick("-453.2337188720703") == -1901);
  CHECK(text_of_tick(101623152) == "24228847.50366211");
  for (const char* text : {"24228847.50366212", "228679.19504642487", "453.25", "453", "",
                           "453.23371887207030", "4.532337188720703e2", "1e300"}) {
    CAPTURE(text);
    CHECK(!parse_tick(text));
  }
}

TEST_CASE("parse_tick: every tick that it finds is written as it was") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto tick = static_cast<std::int64_t>(random() >> (12 + random() % 50));
    const std::string text = text_of_tick(tick);
    if (const std::optional<std::int64_t> found = parse_tick(text)) CHECK(*found == tick);
  }
}

TEST_CASE("parse_double: numbers of 16 bytes and more with ten places and more") {
  CHECK(parse_double("0.044615418625302466") == 0.044615418625302466);
  CHECK(parse_double("-879445.7912445068") == -879445.7912445068);
  for (const char* text :
       {"", "0.5", "0.06900000000000001", "123456789012.125", "0.0446154186253024660",
        "4.461541862530247e-2", "1234567890123456", "0.04461541862530246x", "1e400"}) {
    CAPTURE(text);
    CHECK(!parse_double(text));
  }
}
