#include "oracle/json_value.h"

#include "support/random_trace.h"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <stdexcept>

using namespace traceloom;
using oracle::canonical_text;
using oracle::Json;
using oracle::parse_json;

namespace {

// Structure, keys and strings as another parser sees them. Numbers are doubles there: only their
// place counts.
bool same(const Json& ours, const simdjson::dom::element& theirs) {
  using simdjson::dom::element_type;
  switch (theirs.type()) {
    case element_type::ARRAY: {
      std::size_t i = 0;
      for (const simdjson::dom::element item : simdjson::dom::array(theirs))
        if (i == ours.items.size() || !same(ours.items[i++], item)) return false;
      return ours.kind == Json::Kind::array && i == ours.items.size();
    }
    case element_type::OBJECT: {
      std::size_t i = 0;
      for (const auto& [key, value] : simdjson::dom::object(theirs)) {
        if (i == ours.items.size() || ours.keys[i] != key || !same(ours.items[i], value))
          return false;
        ++i;
      }
      return ours.kind == Json::Kind::object && i == ours.items.size();
    }
    case element_type::STRING:
      return ours.kind == Json::Kind::string && ours.text == std::string_view(theirs);
    case element_type::BOOL:
      return ours.kind == Json::Kind::boolean && ours.text == (bool(theirs) ? "true" : "false");
    case element_type::NULL_VALUE:
      return ours.kind == Json::Kind::null;
    default:
      return ours.kind == Json::Kind::number;
  }
}

}  // namespace

TEST_CASE("json_value: canonical text is one spelling of one value") {
  CHECK(canonical_text(parse_json(R"( {"b" : [1.0, -2e5, {} ], "a":null} )")) ==
        R"({"a":null,"b":[1.0,-2e5,{}]})");
  CHECK(canonical_text(parse_json(R"(["\u0041\/\n\u001f\"\\"])")) == R"(["A/\u000a\u001f\"\\"])");
  CHECK(canonical_text(parse_json("[true,false,[]]")) == "[true,false,[]]");
}

TEST_CASE("json_value: escapes become UTF-8") {
  CHECK(parse_json(R"("\u00e9\u20ac\ud83d\ude00")").text == "é€😀");
  CHECK(parse_json(R"("\ud83dx")").text == "\uFFFDx");
  CHECK(parse_json(R"("\ud83d\u0041")").text == "\uFFFDA");
  CHECK(parse_json(R"("\ude00")").text == "\uFFFD");
}

TEST_CASE("json_value: the last of two equal keys wins, both are kept") {
  const Json value = parse_json(R"({"ts": 1, "ts": 2})");
  CHECK(value.find("ts")->text == "2");
  CHECK(canonical_text(value) == R"({"ts":1,"ts":2})");
  CHECK(value.find("dur") == nullptr);
}

TEST_CASE("json_value: what is not JSON is refused with its place") {
  CHECK_THROWS_WITH_AS(parse_json("[1,]"), "byte 3: not a JSON value", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("[1"), "byte 2: something else was expected here",
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("[1] x"), "byte 4: text after the document", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("\"a"), "byte 2: string is not closed", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("\"\\q\""), "byte 3: unknown escape", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("01"), "byte 2: not a JSON value", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("NaN"), "byte 0: not a JSON value", std::runtime_error);
  CHECK_THROWS_WITH_AS(parse_json("1."), "byte 2: no digit after the decimal point",
                       std::runtime_error);
}

TEST_CASE("json_value: agrees with simdjson on random traces") {
  simdjson::dom::parser parser;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const std::string text =
        random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3)});
    CHECK(same(parse_json(text), parser.parse(text)));
  }
}
