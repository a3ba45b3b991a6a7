#include "run/details.h"

#include "run/args_walk.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("details: values are found by their keys, strings without quotes") {
  std::string text;
  append_detail(text, "grid", "[4, 1, 1]");
  append_detail(text, "dtype", "\"Float\"");
  append_detail(text, "blocks per SM", "0.625");
  append_detail(text, "Seq", "12");
  CHECK(find_detail(text, "grid") == "[4, 1, 1]");
  CHECK(find_detail(text, "dtype") == "Float");
  CHECK(find_number(text, "blocks per SM") == 0.625);
  CHECK(find_integer(text, "Seq") == 12);
  CHECK(find_detail(text, "block").empty());
  CHECK_FALSE(find_number(text, "dtype"));
}

TEST_CASE("details: lists are one text, whatever white space they have") {
  std::string pretty;
  append_detail(pretty, "grid", "[\n   4,\n   1\n ]");
  append_detail(pretty, "block", "[8,1]");
  CHECK(find_detail(pretty, "grid") == "[4, 1]");
  CHECK(find_detail(pretty, "block") == "[8, 1]");
}

TEST_CASE("details: a raw line break in a value ends nothing") {
  std::string text;
  append_detail(text, "Process Group Name", "\"a\nSeq\t7\"");
  CHECK(find_detail(text, "Process Group Name") == "aSeq7");
  CHECK(find_detail(text, "Seq").empty());
}

TEST_CASE("args walk: members of any text, and never beyond its end") {
  std::string keys;
  for (ArgsWalk walk(R"({"a": 1, "b": {"c": [1, "}"]}, "d\"": "x,y", "e": "7"})"); walk.next();)
    keys += std::string(walk.key()) + "=" + std::string(walk.value()) + ";";
  CHECK(keys == R"(a=1;b={"c": [1, "}"]};d\"="x,y";e="7";)");
  CHECK(find_arg(R"({"correlation": 5})", "correlation") == "5");
  for (const char* text : {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\": [", "{x}", "[1]",
                           "7", "{\"a\": \"\\", "{\"a\"}"}) {
    CAPTURE(text);
    int members = 0;
    for (ArgsWalk walk(text); walk.next() && members < 10;) ++members;
    CHECK(members <= 1);
  }
}

TEST_CASE("args walk: whole numbers, also in quotes, and nothing else") {
  const auto number = [](std::string_view args) {
    ArgsWalk walk(args);
    return walk.next() ? walk.integer(-1) : -2;
  };
  CHECK(number(R"({"a": 12})") == 12);
  CHECK(number(R"({"a": "12"})") == 12);
  CHECK(number(R"({"a": 1.5})") == -1);
  CHECK(number(R"({"a": null})") == -1);
}
