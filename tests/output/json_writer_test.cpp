#include "output/json_writer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

using namespace traceloom;

namespace {

std::string written(int indent, const std::function<void(JsonWriter&)>& write) {
  std::string text;
  JsonWriter json(text, indent);
  write(json);
  return text;
}

std::string number(double value) {
  return written(0, [&](JsonWriter& json) { json.value(value); });
}

void write_sample(JsonWriter& json) {
  json.begin_object();
  json.member("rank", 3);
  json.key("names");
  json.begin_array();
  json.value("a");
  json.value(true);
  json.null();
  json.begin_object();
  json.end_object();
  json.end_array();
  json.key("empty");
  json.begin_array();
  json.end_array();
  json.end_object();
}

}  // namespace

TEST_CASE("json_writer: one line without indent, commas and colons in their places") {
  CHECK(written(0, write_sample) == R"({"rank":3,"names":["a",true,null,{}],"empty":[]})");
}

TEST_CASE("json_writer: each level is indented, empty ones stay closed") {
  CHECK(written(2, write_sample) == R"({
  "rank": 3,
  "names": [
    "a",
    true,
    null,
    {}
  ],
  "empty": []
})");
}

TEST_CASE("json_writer: appends to what the text holds already") {
  std::string text = "x = ";
  JsonWriter json(text);
  json.value(false);
  CHECK(text == "x = false");
}

TEST_CASE("json_writer: strings and keys are escaped and made valid UTF-8") {
  CHECK(written(0, [](JsonWriter& json) {
          json.begin_object();
          json.key("a\"b");
          json.value(std::string("\n\xFF"));
          json.end_object();
        }) == "{\"a\\\"b\":\"\\n\uFFFD\"}");
}

TEST_CASE("json_writer: integers of every width are exact") {
  CHECK(written(0, [](JsonWriter& json) {
          json.begin_array();
          json.value(std::numeric_limits<std::int64_t>::min());
          json.value(std::numeric_limits<std::uint64_t>::max());
          json.value(std::uint8_t{200});
          json.value(short{-7});
          json.end_array();
        }) == "[-9223372036854775808,18446744073709551615,200,-7]");
}

TEST_CASE("json_writer: doubles are as short as they can be and read back the same") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(1.0) == "1");
  CHECK(number(-0.0) == "-0");
  CHECK(number(1.0 / 3) == "0.3333333333333333");
  CHECK(number(1e300) == "1e+300");
  CHECK(number(5e-324) == "5e-324");
  CHECK(number(-1.7976931348623157e308) == "-1.7976931348623157e+308");
}

TEST_CASE("json_writer: nothing is null") {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  json.value(std::optional<std::int64_t>{7});
  json.value(std::optional<std::int64_t>{});
  json.end_array();
  CHECK(text == "[7,null]");
}

TEST_CASE("json_writer: numbers that JSON does not have are null") {
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json_writer: raw JSON goes in as it is, as a value and as an element") {
  CHECK(written(0, [](JsonWriter& json) {
          json.begin_array();
          json.raw("{ }");
          json.raw("1e9");
          json.begin_object();
          json.key("k");
          json.raw("[1]");
          json.end_object();
          json.end_array();
        }) == R"([{ },1e9,{"k":[1]}])");
}
