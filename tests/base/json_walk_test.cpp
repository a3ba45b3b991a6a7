#include "base/json_walk.h"

#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

Texts members(std::string_view object) {
  Texts found;
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    found.push_back(std::string(key) + "=" + std::string(value));
  });
  return found;
}

Texts elements(std::string_view list) {
  Texts found;
  for_each_element(list, [&](std::string_view value) { found.emplace_back(value); });
  return found;
}

Texts values_of(std::string_view object, std::string_view key) {
  Texts found;
  for (JsonWalk walk(object); walk.next(key);) found.emplace_back(walk.value());
  return found;
}

// The slow way to values_of().
Texts values_among_all(std::string_view object, std::string_view key) {
  Texts found;
  for_each_member(object, [&](std::string_view name, std::string_view value) {
    if (name == key) found.emplace_back(value);
  });
  return found;
}

}  // namespace

TEST_CASE("json_walk: gives members and elements as they are written") {
  CHECK(members(R"({"a":1,"b" : "x\"}," , "c":{"d":[1,{"e":"]"}]},"f":[],"g":null})") ==
        Texts{"a=1", R"(b="x\"},")", R"(c={"d":[1,{"e":"]"}]})", "f=[]", "g=null"});
  CHECK(elements(" []").empty());
  CHECK(elements(R"([1.5, "a,b" ,{"c":1} , [2,3],true])") ==
        Texts{"1.5", R"("a,b")", R"({"c":1})", "[2,3]", "true"});
}

TEST_CASE("json_walk: an empty container and what is none have nothing in them") {
  CHECK(members("{}").empty());
  CHECK(members("{ \n}").empty());
  CHECK(elements("[ ]").empty());
  CHECK(members("[1,2]").empty());
  CHECK(elements(R"({"a":1})").empty());
  CHECK(members("12").empty());
  CHECK(members("").empty());
}

TEST_CASE("json_walk: a word or number ends before white space, comma and bracket") {
  CHECK(members("{\"a\":12 ,\"b\":-1e5\n}") == Texts{"a=12", "b=-1e5"});
  CHECK(elements("[null,true]") == Texts{"null", "true"});
}

TEST_CASE("json_walk: of text that is no JSON it reads no byte beyond the end") {
  for (const char* text : {"{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\": [", "{x}", "{x",
                           "{\"a\": \"\\", "{\"a\"}"}) {
    CAPTURE(text);
    // The buffer has no byte after the text, so that a read beyond the end is detected.
    const std::vector<char> exact(text, text + std::strlen(text));
    int count = 0;
    for (JsonWalk walk({exact.data(), exact.size()}); walk.next() && count < 10;) ++count;
    CHECK(count <= 1);
  }
}

TEST_CASE("json_walk: skips lists of any length to their end") {
  for (std::size_t numbers = 0; numbers < 40; ++numbers) {
    CAPTURE(numbers);
    std::string list = "[[";
    for (std::size_t i = 0; i < numbers; ++i) list += "1,";
    list += "1], []]";
    CHECK(members("{\"a\":" + list + ", \"b\": [" + list + "]}") ==
          Texts{"a=" + list, "b=[" + list + "]"});
    const std::string mixed = list.substr(0, list.size() - 1) + ", \"]\", {\"c\": [1]}]";
    CHECK(members("{\"a\":" + mixed + ",\"b\":1}") == Texts{"a=" + mixed, "b=1"});
  }
}

TEST_CASE("json_walk: skips to the members with a key") {
  CHECK(values_of(R"({"a":1,"b":[2,3],"c":4,"b" : "5"})", "b") == Texts{"[2,3]", R"("5")"});
  CHECK(values_of(R"({"a":"b","b":1})", "b") == Texts{"1"});
  CHECK(values_of(R"({"a":{"b":1},"b":2})", "b") == Texts{"2"});
  CHECK(values_of(R"({"a":{"b":1}})", "b").empty());
  CHECK(values_of(R"({"a":"\"b\":1","b":2})", "b") == Texts{"2"});
  CHECK(values_of(R"({"a":"\\","b":2})", "b") == Texts{"2"});
  CHECK(values_of(R"({"bb":1,"b":2})", "b") == Texts{"2"});
  CHECK(values_of(R"({"":1})", "") == Texts{"1"});
  CHECK(values_of(R"(["b",1])", "b").empty());
  CHECK(values_of("{", "b").empty());
}

TEST_CASE("json_walk: skipping to members finds what a walk over all of them finds") {
  const std::string between[] = {"",
                                 R"("a": 1, )",
                                 R"("Input type": ["Scalar", "Input Dims"], )",
                                 R"("a": "x\"Input Dims\": 1", )",
                                 R"("a": {"Input Dims": [1]}, )",
                                 R"("Input Strides": [[1024, 1], []], )",
                                 R"("a": "{", )"};
  for (const std::string& first : between)
    for (const std::string& second : between)
      for (std::size_t spaces = 0; spaces < 20; ++spaces) {
        const std::string args = "{" + std::string(spaces, ' ') + first +
                                 R"("Input Dims": [[16, 1024], []], )" + second +
                                 R"("Input Dims" : [], "Ev Idx": 7})";
        CAPTURE(args);
        for (const std::size_t cut : {args.size(), args.size() - 12, args.size() - 30}) {
          // The buffer has no byte after the text, so that a read beyond the end is detected.
          const std::vector<char> exact(args.begin(),
                                        args.begin() + static_cast<std::ptrdiff_t>(cut));
          const std::string_view text(exact.data(), exact.size());
          CHECK(values_of(text, "Input Dims") == values_among_all(text, "Input Dims"));
          CHECK(values_of(text, "Ev Idx") == values_among_all(text, "Ev Idx"));
          CHECK(values_of(text, "none").empty());
        }
      }
}

TEST_CASE("json_walk: finds the last member of a key") {
  CHECK(find_member(R"({"a":1,"b":{"a":2},"a":3})", "a") == "3");
  CHECK(find_member(R"({"a":1})", "b").empty());
  CHECK(find_member("[1]", "a").empty());
  CHECK(find_member(R"({"r\u0061nk":1,"ranks":2})", "rank") == "1");
  CHECK(find_member(R"({"rank\n":1,"r\u0061n":2,"rank":3})", "rank") == "3");
}

TEST_CASE("json_walk: finds members beside what is no UTF-8, and none in what is no object") {
  CHECK(find_member("{\"host\":\"M\xfcnchen\",\"rank\":3}", "rank") == "3");
  for (const char* text : {"", "7", "null", "{}", "\"a\"", "{\"a\": ", "{\"a\""}) {
    CAPTURE(text);
    CHECK(find_member(text, "a").empty());
  }
}

TEST_CASE("json_walk: deep nesting is skipped without recursion") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(elements("[" + deep + ",1]") == Texts{deep, "1"});
}

TEST_CASE("json_walk: a key that stands twice in an object is noticed, however it is written") {
  CHECK(repeats_key(R"({"a":1,"b":2,"a":3})"));
  CHECK(repeats_key(R"({"a":1,"\u0061":2})"));
  CHECK(repeats_key(R"({"\u0061":1,"a":2})"));
  CHECK_FALSE(repeats_key(R"({"a":{"a":1},"b":[{"c":1,"c":2}]})"));
  CHECK_FALSE(repeats_key(R"({"a":"b","b":"a"})"));
  CHECK_FALSE(repeats_key("[1,1]"));
  CHECK_FALSE(repeats_key("{}"));
  CHECK_FALSE(repeats_key(""));
  for (const std::size_t keys : {23U, 24U, 25U, 26U, 200U}) {
    CAPTURE(keys);
    std::string object = "{";
    for (std::size_t i = 0; i < keys; ++i) object += "\"k" + std::to_string(i) + "\":0,";
    CHECK_FALSE(repeats_key(object + "\"x\":0}"));
    CHECK(repeats_key(object + "\"k" + std::to_string(keys - 1) + "\":0}"));
  }
}

TEST_CASE("json_walk: text that is no JSON gives some parts of it, and an end") {
  CHECK(members(R"({"x":1 2})") == Texts{"x=1"});
  CHECK(members(R"({"x)") == Texts{"="});
  CHECK(members(R"({"x":)").size() == 1);
  CHECK(members(R"({1:2,,"a" "b"})").size() < 5);
  CHECK(find_member(R"({"bp":"x","more":1 2})", "bp") == R"("x")");
}
