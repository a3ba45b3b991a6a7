#include "survey/json_member.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("json_member: gives all members in their order, values as they are written") {
  const auto members = json_members(R"({"b": [1, 2.50], "a\u0031": {"x": "y"}, "b": null})");
  REQUIRE(members.size() == 3);
  CHECK(members[0].first == "b");
  CHECK(members[0].second == "[1, 2.50]");
  CHECK(members[1].first == "a1");
  CHECK(members[1].second == R"({"x": "y"})");
  CHECK(members[2].second == "null");
}

TEST_CASE("json_member: what is no object has no members") {
  for (const char* text : {"", "[1]", "7", "{\"a\": ", "{\"a\" 1}", "null", "{}"}) {
    CAPTURE(text);
    CHECK(json_members(text).empty());
  }
}
