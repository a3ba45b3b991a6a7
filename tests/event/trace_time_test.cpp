#include "event/event_timing.h"
#include "oracle/exact_time.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Numbers as texts, in every form that JSON has.
class NumberTexts {
 public:
  std::string next() {
    std::string text = chance(4) ? "-" : "";
    text += integer();
    if (!chance(4)) text += "." + digits(1 + below(25));
    if (chance(3)) text += exponent();
    return text;
  }
  // Around what fits int64 nanoseconds.
  std::string next_near_limit() {
    std::string text = chance(2) ? "-" : "";
    text += "92233720368547" + digits(2) + ".";
    return text + (chance(2) ? "8" + digits(1 + below(4)) : digits(1 + below(20)));
  }
  // Realistic times, some of them close together.
  std::string next_time() { return "171219549540675" + digits(1) + "." + digits(1 + below(12)); }

  bool chance(unsigned one_in) { return below(one_in) == 0; }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

 private:
  std::string digits(std::size_t count) {
    std::string text;
    const bool zeros = chance(4);
    for (std::size_t i = 0; i < count; ++i)
      text += zeros ? '0' : static_cast<char>('0' + random_() % 10);
    return text;
  }
  std::string integer() {
    if (chance(5)) return "0";
    return static_cast<char>('1' + random_() % 9) + digits(below(20));
  }
  std::string exponent() {
    static constexpr std::string_view kSigns[] = {"e", "E", "e+", "E+", "e-", "E-"};
    const std::string sign(kSigns[below(6)]);
    return sign + std::to_string(chance(10) ? below(2000) : below(30));
  }

  std::mt19937_64 random_{7};
};

std::int64_t rounded(std::string_view text) {
  const std::optional<ParsedTime> time = parse_time(text);
  REQUIRE_MESSAGE(time, text);
  return time->rounded_ns();
}

// Against the oracle; INT64_MAX ns itself is left out, which the oracle refuses.
void compare_with_oracle(const std::string& text) {
  const std::optional<oracle::Attos> expected = oracle::parse_microseconds(text);
  const std::optional<ParsedTime> time = parse_time(text);
  if (time && time->floor_ns == kMax) return;
  REQUIRE_MESSAGE(time.has_value() == expected.has_value(), text);
  if (!expected) return;
  const oracle::Attos attos =
      oracle::Attos{time->floor_ns} * 1'000'000'000'000'000'000 + time->atto;
  REQUIRE_MESSAGE(attos == *expected, text);
  REQUIRE_MESSAGE(time->rounded_ns() == oracle::round_to_ns(*expected), text);
}

std::string written(std::int64_t ns) {
  std::string text;
  append_microseconds(text, ns);
  return text;
}

}  // namespace

TEST_CASE("trace_time: reads every form of a JSON number") {
  CHECK(rounded("0") == 0);
  CHECK(rounded("-0") == 0);
  CHECK(rounded("-0.0") == 0);
  CHECK(rounded("12") == 12'000);
  CHECK(rounded("12.345") == 12'345);
  CHECK(rounded("-12.345") == -12'345);
  CHECK(rounded("1.5e3") == 1'500'000);
  CHECK(rounded("1.5E+3") == 1'500'000);
  CHECK(rounded("15e-4") == 2);
  CHECK(rounded("1795202.969713481e9") == 1'795'202'969'713'481'000);
  CHECK(rounded("1712195495406752.812") == 1'712'195'495'406'752'812);
  CHECK(rounded("9007199254740993") == 9'007'199'254'740'993'000);
  CHECK(rounded("0e9999") == 0);
  CHECK(rounded("0.000e0000000000000000000000000001") == 0);
  CHECK(rounded("1e-400") == 0);
}

TEST_CASE("trace_time: reads numbers in quotes and Kineto's broken negatives") {
  CHECK(rounded("\"12.345\"") == 12'345);
  CHECK(rounded("\"-1e3\"") == -1'000'000);
  CHECK(rounded("0.-66") == -66);
  CHECK(rounded("0.-05") == -5);
  CHECK(rounded("0.-066") == -66);
  CHECK(rounded("0.-345") == -345);
  CHECK(rounded("-12.-66") == -12'066);
  CHECK(rounded("-12.-345") == -12'345);
  CHECK(rounded("\"-12.-345\"") == -12'345);
}

TEST_CASE("trace_time: refuses what is no number") {
  for (const std::string_view text :
       {"",        "null",  "true",   "NaN",     "Infinity",  "-Infinity", "0x10",  "+5",
        "01",      "-01",   "00",     ".5",      "-.5",       "1.",        "-",     "--1",
        "1e",      "1e+",   "1.e3",   "e3",      "1.2.3",     "1..2",      "1.--2", "0.-",
        "1 ",      " 1",    "1,2",    "1_0",     "12abc",     "abc",       "\"\"",  "\"",
        "\"abc\"", "\"1",   "1\"",    "\" 1\"",  "\"\"1\"\"", "{}",        "[1]",   "\"0x10\"",
        "1e5e5",   "1e5.0", "0.-1-1", "0.-1234", "12.-345",   "0.-66e3",   "-"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text));
  }
}

TEST_CASE("trace_time: takes what fits int64 nanoseconds and nothing beyond") {
  CHECK(rounded("9223372036854775.807") == kMax);
  CHECK(rounded("9223372036854775807e-3") == kMax);
  CHECK(rounded("9223372036854775.8069999") == kMax);
  CHECK(rounded("-9223372036854775.808") == kMin);
  CHECK(rounded("-9223372036854775.8079999") == kMin);
  for (const std::string_view text :
       {"9223372036854775.8070001", "9223372036854775.8075", "9223372036854775.808",
        "9223372036854775.8", "9223372036854776", "-9223372036854775.8080001",
        "-9223372036854775.809", "-9223372036854776", "10000000000000000", "1e16", "1e300",
        "-1e99999999999999999999", "18446744073709551616", "184467440737095516.16"}) {
    CAPTURE(text);
    const bool expected = text == "9223372036854775.8";
    CHECK(parse_time(text).has_value() == expected);
  }
}

TEST_CASE("trace_time: reads generated numbers exactly as the oracle") {
  NumberTexts texts;
  for (int i = 0; i < 60'000; ++i) {
    compare_with_oracle(texts.next());
    compare_with_oracle(texts.next_near_limit());
    compare_with_oracle(texts.next_time());
  }
}

TEST_CASE("trace_time: the point may stand anywhere before an exponent") {
  const std::string digits = "1712195495406752812345";
  const ParsedTime expected = *parse_time("1712195495406752.812345");
  for (std::size_t point = 1; point < digits.size(); ++point) {
    const std::string text = digits.substr(0, point) + "." + digits.substr(point) + "e" +
                             std::to_string(16 - static_cast<int>(point));
    CAPTURE(text);
    CHECK(parse_time(text) == expected);
  }
  CHECK(expected.floor_ns == 1'712'195'495'406'752'812);
  CHECK(expected.atto == 345'000'000'000'000'000);
}

TEST_CASE("trace_time: rounds half up, below zero too") {
  CHECK(rounded("0.0005") == 1);
  CHECK(rounded("0.0004999999999") == 0);
  CHECK(rounded("-0.0005") == 0);
  CHECK(rounded("-0.0005000001") == -1);
  CHECK(rounded("-0.0015") == -1);
  CHECK(rounded("1.9999999") == 2'000);
  CHECK(parse_time("1.0001")->is_fractional());
  CHECK_FALSE(parse_time("1.0010000")->is_fractional());
}

TEST_CASE("trace_time: rounding keeps the order, and a child inside its parent") {
  NumberTexts texts;
  std::vector<ParsedTime> times;
  for (int i = 0; i < 4'000; ++i) times.push_back(*parse_time(texts.next_time()));
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i)
    REQUIRE(times[i - 1].rounded_ns() <= times[i].rounded_ns());
  // Times of a step of 0.1 ns, where rounding has something to do.
  for (int i = 0; i < 20'000; ++i) {
    std::size_t tenths[4] = {texts.below(60), texts.below(60), texts.below(60), texts.below(60)};
    std::sort(std::begin(tenths), std::end(tenths));
    const auto at = [&](std::size_t count) { return *parse_time(std::to_string(count) + "e-4"); };
    const auto end = [&](std::size_t from, std::size_t to) {
      return add(at(from), at(to - from))->rounded_ns();
    };
    REQUIRE(at(tenths[0]).rounded_ns() <= at(tenths[1]).rounded_ns());
    REQUIRE(end(tenths[1], tenths[2]) <= end(tenths[0], tenths[3]));
    REQUIRE(end(tenths[0], tenths[1]) == at(tenths[1]).rounded_ns());
  }
}

TEST_CASE("trace_time: adds exactly, and not beyond int64 nanoseconds") {
  const ParsedTime most{kMax, 0};
  const ParsedTime half{0, 500'000'000'000'000'000};
  CHECK(add(half, half) == ParsedTime{1, 0});
  CHECK(add(ParsedTime{-1, 999'999'999'999'999'999}, ParsedTime{0, 1}) == ParsedTime{0, 0});
  CHECK(add(most, ParsedTime{-1, 0}) == ParsedTime{kMax - 1, 0});
  CHECK(add(ParsedTime{kMax - 1, 0}, half) == ParsedTime{kMax - 1, 500'000'000'000'000'000});
  CHECK_FALSE(add(most, half));
  CHECK_FALSE(add(most, ParsedTime{1, 0}));
  CHECK_FALSE(add(ParsedTime{kMin, 0}, ParsedTime{-1, 0}));
}

TEST_CASE("trace_time: writes no more digits than needed") {
  CHECK(written(0) == "0");
  CHECK(written(1) == "0.001");
  CHECK(written(-66) == "-0.066");
  CHECK(written(1'500) == "1.5");
  CHECK(written(-12'340) == "-12.34");
  CHECK(written(100'000) == "100");
  CHECK(written(kMax) == "9223372036854775.807");
  CHECK(written(kMin) == "-9223372036854775.808");
}

TEST_CASE("trace_time: reads back what it writes") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 40'000; ++i) {
    const auto ns = static_cast<std::int64_t>(random()) >> (random() % 64);
    const std::optional<ParsedTime> time = parse_time(written(ns));
    REQUIRE(time);
    REQUIRE(*time == ParsedTime{ns, 0});
  }
  CHECK(rounded(written(kMax)) == kMax);
  CHECK(rounded(written(kMin)) == kMin);
}
