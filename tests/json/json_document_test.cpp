#include "json/json_document.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "support/print_texts.h"
#include "support/random_json.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// Returns all values in the order of the text, each after its key.
void add_all(JsonValue value, Texts& found) {
  found.push_back(std::string(value.key()) + "=" + std::string(value.text()));
  for (const JsonValue member : value.members()) add_all(member, found);
  for (const JsonValue element : value.elements()) add_all(element, found);
}

Texts read_with_simdjson(std::string_view text) {
  Texts found;
  const JsonDocument document(text);
  add_all(document.root(), found);
  return found;
}

// The same, read in place.
void walk(std::string_view key, std::string_view text, Texts& found) {
  found.push_back(std::string(key) + "=" + std::string(text));
  for (JsonWalk inside(text); inside.next();) walk(inside.key(), inside.value(), found);
}

std::string text_of(std::string_view document) {
  return std::string(JsonDocument(document).root().text());
}

}  // namespace

TEST_CASE("json_document: gives values as they are written, and in their order") {
  CHECK(read_with_simdjson(R"({"a" : "x\"}," , "b":{"c":[1,{"d":"]"} ]}, "e":[],"f": null })") ==
        Texts{R"(={"a" : "x\"}," , "b":{"c":[1,{"d":"]"} ]}, "e":[],"f": null })", R"(a="x\"},")",
              R"(b={"c":[1,{"d":"]"} ]})", R"(c=[1,{"d":"]"} ])", "=1", R"(={"d":"]"})", R"(d="]")",
              "e=[]", "f=null"});
  CHECK(read_with_simdjson("[ [] , {} ]") == Texts{"=[ [] , {} ]", "=[]", "={}"});
}

TEST_CASE("json_document: reads numbers and strings") {
  const JsonDocument document(
      R"({"n":9223372036854775807,"big":123456789012345678901234567890,"q":"7","f":7.0,"h":7.5,)"
      R"("s":"caf\u00e9","half":"\ud83d","word":true,"r\u0061nk":3})");
  CHECK(document["n"].integer() == 9223372036854775807);
  CHECK(document["big"].text() == "123456789012345678901234567890");
  CHECK_FALSE(document["big"].integer());
  CHECK(document["q"].integer() == 7);
  CHECK(document["f"].integer() == 7);
  CHECK_FALSE(document["h"].integer());
  CHECK(document["s"].string() == "café");
  CHECK(document["half"].string() == "\xEF\xBF\xBD");
  CHECK(document["word"].string() == "true");
  CHECK(document["rank"].integer() == 3);
}

TEST_CASE("json_document: a value that is not there has nothing in it") {
  const JsonDocument document(R"({"a":[1],"b":{"c":2}})");
  const JsonValue none = document["x"];
  CHECK_FALSE(none.is_there());
  CHECK(none.text().empty());
  CHECK(none.string().empty());
  CHECK_FALSE(none.integer());
  CHECK(none.elements().empty());
  CHECK_FALSE(none["y"].is_there());
  CHECK_FALSE(document["a"]["c"].is_there());
  CHECK(document["a"].members().empty());
  CHECK(document["b"].elements().empty());
  CHECK_FALSE(JsonDocument("").root().is_there());
}

TEST_CASE("json_document: of two members with one key the last one counts") {
  CHECK(JsonDocument(R"({"a":1,"b":{"a":2},"a":3})")["a"].text() == "3");
  CHECK(JsonDocument(R"({"\u0061":1,"a":2})")["a"].text() == "2");
  CHECK(JsonDocument(R"({"a":1,"\u0061":2})")["a"].text() == "2");
}

TEST_CASE("json_document: what is no object and no list is one value") {
  CHECK(text_of("12") == "12");
  CHECK(text_of("\"a\x01\"") == "\"a\x01\"");
}

TEST_CASE("json_document: a text that simdjson refuses is walked in place") {
  CHECK(JsonDocument("{\"name\":\"a\x01z\",\"n\":5}")["n"].integer() == 5);
  CHECK(JsonDocument("{\"name\":\"a\x01z\"}")["name"].string() == "a\x01z");
  CHECK(JsonDocument("{\"name\":\"a\xFFz\"}")["name"].string() == "a\xEF\xBF\xBDz");
  CHECK(read_with_simdjson(R"({"a":[1,2,],})") ==
        Texts{R"(={"a":[1,2,],})", "a=[1,2,]", "=1", "=2"});
  CHECK(JsonDocument(R"({"a":1,"b":{"c":2})")["b"]["c"].integer() == 2);
  CHECK_FALSE(JsonDocument(R"({"a":})")["a"].is_there());
}

TEST_CASE("json_document: faults of one value that simdjson does not look at stay in it") {
  const JsonDocument document(R"({"nan":NaN,"bad":0x1f,"escape":"C:\dir","n":5})");
  CHECK(document["nan"].text() == "NaN");
  CHECK(document["bad"].text() == "0x1f");
  CHECK(document["escape"].string() == "C:\\dir");
  CHECK(document["n"].integer() == 5);
}

TEST_CASE("json_document: of broken text it gives what a walk in place gives") {
  for (const char* text : {"{",
                           "[",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "[1",
                           "[1}",
                           "{\"a\":1]",
                           "{\"a\":[1,2}",
                           "{\"a\":{\"b\":1}",
                           "{1:2}",
                           "[,1]",
                           "[1,,2]",
                           "{\"a\":\"",
                           "{\"a\":}",
                           "{\"a\":,\"b\":1}",
                           "{,}",
                           "[:]",
                           "{\"a\":1} \"b\":2",
                           "[1] 2",
                           "{\"a\":1}}"}) {
    CAPTURE(text);
    Texts walked;
    walk("", text, walked);
    CHECK(read_with_simdjson(text) == walked);
  }
}

TEST_CASE("json_document: deep values are read as deep as the rest of the library reads") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  CHECK(is_strict_json(nested(512)));
  CHECK(read_with_simdjson(nested(512)).size() == 513);
  CHECK_FALSE(is_strict_json(nested(513)));
  CHECK(read_with_simdjson(nested(513)).size() == 17);
  CHECK(read_with_simdjson(std::string(1'000'000, '[')).size() == 17);
}

TEST_CASE("json_document: reads what a walk in place reads, of random values and damaged ones") {
  RandomJson random(20261126);
  for (int round = 0; round < 10'000; ++round) {
    const std::string text = random.value();
    for (const std::string& one : {text, random.damaged(text)}) {
      CAPTURE(one);
      if (one.empty()) continue;
      Texts walked;
      walk("", one, walked);
      CHECK(read_with_simdjson(one) == walked);
    }
  }
}
