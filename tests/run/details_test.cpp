#include "run/event_columns.h"

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

TEST_CASE("details: the white space within the texts of a list stays") {
  std::string text;
  append_detail(text, "Input type", "[\"long int\",\n  \"unsigned  char\", \"a, b\"]");
  CHECK(find_detail(text, "Input type") == R"(["long int", "unsigned  char", "a, b"])");
}

TEST_CASE("details: a raw line break in a value ends nothing") {
  std::string text;
  append_detail(text, "Process Group Name", "\"a\nSeq\t7\"");
  CHECK(find_detail(text, "Process Group Name") == "aSeq7");
  CHECK(find_detail(text, "Seq").empty());
}
