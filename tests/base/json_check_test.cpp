#include "base/json_string.h"
#include "support/random_json.h"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>

using namespace traceloom;

namespace {

bool simdjson_accepts(const std::string& text) {
  simdjson::dom::parser parser;
  return parser.parse(text).error() == simdjson::SUCCESS;
}

std::string nested(std::string_view open, std::size_t depth, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

// The two readers differ on purpose about surrogate escapes, white space around the value, and
// numbers that simdjson cannot hold.
bool is_comparable(const std::string& text) {
  if (text.find("\\ud") != std::string::npos || text.find("\\uD") != std::string::npos)
    return false;
  constexpr std::string_view kSpace = " \n\t\r";
  if (text.empty() || kSpace.find(text.front()) != kSpace.npos) return false;
  return kSpace.find(text.back()) == kSpace.npos && !has_extreme_number(text);
}

}  // namespace

TEST_CASE("json_check: takes values of every kind") {
  for (const char* text : {"0",
                           "-0",
                           "-1.5e+10",
                           "0.0",
                           "1E5",
                           "12345678901234567890123456789",
                           "1e999",
                           "true",
                           "false",
                           "null",
                           "\"\"",
                           "\"a\"",
                           "[]",
                           "{}",
                           "[ ]",
                           "{ \n}",
                           "[1]",
                           "[1 , 2]",
                           "[[16, 16, 559, 64], []]",
                           R"({"a":1})",
                           R"({ "a" : [true, null], "a" : {} })",
                           R"("\"\\\/\b\f\n\r\t\u0000\u00e9")",
                           "\"caf\xC3\xA9 12345678\"",
                           "\"12345678\"",
                           "\"1234567\\\\\"",
                           "[\"12345678\\n\",\t-0.5]"}) {
    CAPTURE(text);
    CHECK(is_strict_json(text));
  }
}

TEST_CASE("json_check: refuses what is no value") {
  for (const char* text : {"",           " ",
                           " 1",         "1 ",
                           "01",         "-",
                           "+1",         ".5",
                           "1.",         "1.e5",
                           "1e",         "1e+",
                           "-01",        "0x10",
                           "0.-66",      "NaN",
                           "Infinity",   "tru",
                           "truee",      "nul",
                           "'a'",        "a",
                           "1 2",        "1,",
                           ",",          ":",
                           "]",          "}",
                           "[",          "{",
                           "[1",         "[1,",
                           "[1,]",       "[,1]",
                           "[1,,2]",     "[1 2]",
                           "[1}",        "{]",
                           "{\"a\"}",    "{\"a\":}",
                           "{\"a\" 1}",  "{\"a\":1,}",
                           "{,\"a\":1}", "{a:1}",
                           "{1:1}",      "{\"a\":1 \"b\":2}",
                           "{\"a\":1]",  "[\"a\":1]",
                           "[]]",        "{}{}",
                           "[] []",      "{\"a\":",
                           "{\"a",       "{\"a\"",
                           "{\"a\":1,",  "\"",
                           "\"a",        "\"a\\",
                           "\"a\\\"",    "\"a\"b",
                           "//a\n1",     "[/**/]",
                           "[1\v]",      "{\"a\":\f1}"}) {
    CAPTURE(text);
    CHECK_FALSE(is_strict_json(text));
  }
}

TEST_CASE("json_check: refuses strings that cannot be copied, wherever the fault stands") {
  for (const std::string_view fault :
       {"\n", "\x01", "\x1F", "\\x", "\\u12", "\\u12g4", "\\ud83d\\ude00", "\\ud83d", "\x80",
        "\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xE2\x82"}) {
    for (std::size_t before = 0; before < 20; ++before) {
      const std::string body = std::string(before, 'a') + std::string(fault);
      for (std::size_t after : {0, 1, 7, 8, 9}) {
        const std::string text = "\"" + body + std::string(after, 'z') + "\"";
        CAPTURE(text);
        CHECK_FALSE(is_strict_json(text));
        CHECK_FALSE(is_strict_json("{" + text + ": 1}"));
        CHECK_FALSE(is_strict_json("[0, " + text + "]"));
      }
    }
  }
  CHECK_FALSE(is_strict_json(std::string_view("\"a\0b\"", 5)));
  CHECK_FALSE(is_strict_json(std::string_view("[1,\0 2]", 7)));
  CHECK_FALSE(is_strict_json(std::string_view("[1\0]", 4)));
}

TEST_CASE("json_check: reads nothing behind the text") {
  const std::string text = R"({"key of ten": [true, -12.5e3, "string \u00e9"]})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut(text, 0, size);  // its own memory: the address sanitizer sees its end
    CHECK_FALSE(is_strict_json(cut));
    CHECK_FALSE(is_strict_json(std::string_view(text).substr(0, size)));
  }
  CHECK(is_strict_json(std::string_view("123456789").substr(0, 3)));
  CHECK(is_strict_json(std::string_view("truest").substr(0, 4)));
}

TEST_CASE("json_check: nests to the limit and no deeper") {
  for (const std::size_t depth : {1, 63, 64, 65, 66, 128, 129, 511, 512}) {
    CAPTURE(depth);
    CHECK(is_strict_json(nested("[", depth, "]")));
    CHECK(is_strict_json(nested("[{\"a\":", depth / 2, "}]").insert(depth / 2 * 6, "1")));
  }
  CHECK_FALSE(is_strict_json(nested("[", 513, "]")));
  CHECK_FALSE(is_strict_json(nested("[", 1'000'000, "]")));
  CHECK(is_strict_json("[[1]]", 2));
  CHECK_FALSE(is_strict_json("[[[]]]", 2));
  CHECK(is_strict_json("1", 0));
  CHECK_FALSE(is_strict_json("[]", 0));
}

TEST_CASE("json_check: tells braces from brackets at any depth") {
  std::string text;
  std::string closers;
  RandomJson random(7);
  for (std::size_t depth = 0; depth < 300; ++depth) {
    const bool object = random.below(2) == 0;
    text += object ? "{\"k\":" : "[";
    closers.insert(0, object ? "}" : "]");
  }
  CHECK(is_strict_json(text + "0" + closers));
  for (std::size_t i = 0; i < closers.size(); ++i) {
    std::string wrong = closers;
    wrong[i] = wrong[i] == '}' ? ']' : '}';
    CAPTURE(i);
    CHECK_FALSE(is_strict_json(text + "0" + wrong));
  }
}

TEST_CASE("json_check: agrees with simdjson about random values and damaged ones") {
  RandomJson random(20240607);
  std::size_t strict = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 10'000; ++round) {
    const std::string text = random.value();
    CAPTURE(text);
    REQUIRE(simdjson_accepts(text));
    CHECK(is_strict_json(text));
    const std::string damaged = random.damaged(text);
    CAPTURE(damaged);
    if (!is_comparable(damaged)) continue;
    const bool expected = simdjson_accepts(damaged);
    CHECK(is_strict_json(damaged) == expected);
    ++(expected ? strict : refused);
  }
  CHECK(strict > 1000);
  CHECK(refused > 1000);
}
