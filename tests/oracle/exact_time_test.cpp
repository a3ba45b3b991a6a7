#include "oracle/exact_time.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string_view>

using namespace traceloom::oracle;

namespace {

std::optional<std::int64_t> to_ns(std::string_view text) {
  const std::optional<Attos> time = parse_microseconds(text);
  return time ? std::optional(round_to_ns(*time)) : std::nullopt;
}

}  // namespace

TEST_CASE("exact_time: microseconds become nanoseconds without a double") {
  CHECK(to_ns("0") == 0);
  CHECK(to_ns("12") == 12'000);
  CHECK(to_ns("12.345") == 12'345);
  CHECK(to_ns("-0.066") == -66);
  CHECK(to_ns("1712195495406752.812") == 1'712'195'495'406'752'812);
  CHECK(to_ns("9007199254740993") == 9'007'199'254'740'993'000);
  CHECK(to_ns("1750244461563845.0") == 1'750'244'461'563'845'000);
}

TEST_CASE("exact_time: exponents shift the point") {
  CHECK(to_ns("1.5e6") == 1'500'000'000);
  CHECK(to_ns("1.795202969713481E+15") == 1'795'202'969'713'481'000);
  CHECK(to_ns("25e-1") == 2'500);
  CHECK(to_ns("1e-300") == 0);
  CHECK(to_ns("0e999") == 0);
}

TEST_CASE("exact_time: halves are rounded up, also below zero") {
  CHECK(to_ns("0.0004999") == 0);
  CHECK(to_ns("0.0005") == 1);
  CHECK(to_ns("0.45599999999999996") == 456);
  CHECK(to_ns("-0.0005") == 0);
  CHECK(to_ns("-0.00050001") == -1);
  CHECK(to_ns("-0.0015") == -1);
}

TEST_CASE("exact_time: what is no number or beyond int64 nanoseconds is refused") {
  CHECK(to_ns("9223372036854775.806") == 9'223'372'036'854'775'806);
  CHECK(to_ns("-9223372036854775.808") == std::numeric_limits<std::int64_t>::min());
  CHECK(to_ns("9223372036854776") == std::nullopt);
  CHECK(to_ns("1e400") == std::nullopt);
  CHECK(to_ns("") == std::nullopt);
  CHECK(to_ns("abc") == std::nullopt);
  CHECK(to_ns("0x10") == std::nullopt);
  CHECK(to_ns(".5") == std::nullopt);
  CHECK(to_ns("+5") == std::nullopt);
  CHECK(to_ns("1e") == std::nullopt);
  CHECK(to_ns("-") == std::nullopt);
}

TEST_CASE("exact_time: division rounds down") {
  CHECK(floor_divide(7, 2) == 3);
  CHECK(floor_divide(-7, 2) == -4);
  CHECK(floor_divide(-8, 2) == -4);
}
