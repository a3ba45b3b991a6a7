#include "scan/top_level.h"

#include "base/problems.h"
#include "scan/plain_scan.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using State = TopLevelParser::State;
using Strings = std::vector<std::string>;

struct ReadTopLevel {
  Strings members;
  Strings problems;
  Strings lists;  // the texts of the lists, as they are written
  std::string error;
};

// Feeds `text` in pieces of `piece` bytes; a list ends at its first ']'.
ReadTopLevel read_top_level(std::string_view text, std::size_t piece = std::string_view::npos) {
  ReadTopLevel result;
  TopLevelParser parser("t.json");
  try {
    std::size_t at = 0;
    while (at < text.size()) {
      at += parser.feed(text.substr(at, piece));
      if (parser.state() != State::in_list) continue;
      const std::size_t end = text.find(']', at);
      result.lists.emplace_back(text.substr(at, end - at));
      if (end == std::string_view::npos) break;
      at = end + 1;
      parser.resume(at);
    }
    parser.finish(text.size(), false);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.members = to_texts(parser);
  result.problems = to_texts(parser.problems());
  return result;
}

// Returns the error of a text that is no trace; it must be the same for every way of feeding the
// text.
std::string error_of(std::string_view text) {
  const std::string error = read_top_level(text).error;
  CHECK(read_top_level(text, 1).error == error);
  return error;
}

}  // namespace

TEST_CASE("top_level: gives the members before and behind the list, as they are written") {
  const std::string_view text =
      R"( {"a": 1, "b" : "x\"y", "c":{"d":[1,{}], "e":"}]"},"f":[],
      "traceEvents" : [EVENTS], "g":null,"\u0068": -1.5e3 ,"i":true} )";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, text.size()}) {
    const ReadTopLevel result = read_top_level(text, piece);
    CHECK(result.error == "");
    CHECK(result.members == Strings{"a=1", R"(b="x\"y")", R"(c={"d":[1,{}], "e":"}]"})", "f=[]",
                                    "g=null", "h=-1.5e3", "i=true"});
    CHECK(result.lists == Strings{"EVENTS"});
    CHECK(result.problems.empty());
  }
}

TEST_CASE("top_level: a bare list is a trace") {
  const ReadTopLevel result = read_top_level(" \n[EVENTS]\n ");
  CHECK(result.error == "");
  CHECK(result.lists == Strings{"EVENTS"});
  CHECK(result.problems.empty());
}

TEST_CASE("top_level: only the key of the outermost object makes a list the event list") {
  const ReadTopLevel result = read_top_level(
      R"({"x":{"traceEvents":[1]},"y":"\"traceEvents\":[2","z":["traceEvents",[3]],"w":"traceEvents",
      "TraceEvents":[4],"traceEvent\u0073":[REAL],"v":{"traceEvents":[5]}})");
  CHECK(result.error == "");
  CHECK(result.lists == Strings{"REAL"});
  CHECK(result.members.size() == 6);
  CHECK(result.problems.empty());
}

TEST_CASE("top_level: the last of two equal keys counts") {
  TopLevelParser parser("t.json");
  parser.feed(R"({"a":1,"a":2,"traceEvents":[)");
  CHECK(parser.value("a") == "2");
  CHECK(parser.value("b") == "");
  CHECK(parser.entries().size() == 2);
}

TEST_CASE("top_level: takes the events of both when the key stands twice") {
  const ReadTopLevel result = read_top_level(R"({"traceEvents":[ONE],"a":1,"traceEvents": [TWO]})");
  CHECK(result.lists == Strings{"ONE", "TWO"});
  CHECK(result.members == Strings{"a=1"});
  CHECK(result.problems == Strings{"second_trace_events 1@42"});
}

TEST_CASE("top_level: takes a list although the key also stands for something else") {
  const ReadTopLevel result =
      read_top_level(R"({"traceEvents":null,"traceEvents":[ONE],"traceEvents":"x"})");
  CHECK(result.error == "");
  CHECK(result.lists == Strings{"ONE"});
}

TEST_CASE("top_level: takes lists one behind the other") {
  const ReadTopLevel result = read_top_level("[ONE][TWO]\n,[THREE]");
  CHECK(result.lists == Strings{"ONE", "TWO"});
  CHECK(result.problems == Strings{"second_document 1@5", "trailing_garbage 1@11"});
  CHECK(read_top_level("[ONE]{\"traceEvents\":[TWO]} [THREE]").problems ==
        Strings{"second_document 2@5"});
  CHECK(read_top_level("[ONE]{\"a\":1}").members == Strings{"a=1"});
}

TEST_CASE("top_level: refuses a document of another rank or clock than the first") {
  const std::string first =
      R"({"distributedInfo":{"rank":0},"baseTimeNanoseconds":7,"traceEvents":[ONE]})";
  for (const auto& [second, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"distributedInfo":{"rank":1},"traceEvents":[TWO],"baseTimeNanoseconds":7})",
            "distributedInfo.rank"},
           {R"({"distributedInfo":{"rank":0},"traceEvents":[TWO],"baseTimeNanoseconds":8})",
            "baseTimeNanoseconds"},
           {"[TWO]", "distributedInfo.rank"},
           {R"({"distributedInfo":{"rank":0},"traceEvents":[TWO],"baseTimeNanoseconds":7,)"
            R"("otherData":{"traceloom":{"version":"1"}}})",
            "otherData.traceloom"}}) {
    CHECK(error_of(first + "\n" + second + first) ==
          "t.json: byte 75: a document of another rank or clock begins here (its " + key +
              " is not that of the first); split the unpacked text into one file a document: head "
              "-c 75 gives what is before this one, tail -c +76 the rest");
  }
  const std::string window = R"({"baseTimeNanoseconds":7,"traceEvents":[TWO],)"
                             R"("distributedInfo":{"world_size":2,"rank":0}})";
  CHECK(error_of(first + window + first) == "");
  // A document without events has no clock of its own.
  CHECK(error_of("[ONE]"
                 R"({"baseTimeNanoseconds":7})") == "");
}

TEST_CASE("top_level: skips a byte order mark, also one that comes in pieces") {
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    CHECK(read_top_level("\xef\xbb\xbf[ONE]", piece).lists == Strings{"ONE"});
    CHECK(read_top_level("\xef\xbb\xbf {\"traceEvents\":[ONE]}", piece).lists == Strings{"ONE"});
  }
  CHECK(read_top_level(" \xef\xbb\xbf[]").error ==
        "t.json: byte 1: not a trace: the text is not JSON; a trace starts with [ or {");
}

TEST_CASE("top_level: what follows the end is counted and ignored") {
  CHECK(read_top_level("[ONE]garbage [").problems == Strings{"trailing_garbage 1@5"});
  CHECK(read_top_level(std::string_view("[ONE]\n\0\0\0\0", 10)).problems ==
        Strings{"trailing_garbage 1@6"});
  CHECK(read_top_level(R"({"traceEvents":[ONE]} }{)").problems == Strings{"trailing_garbage 1@22"});
  CHECK(read_top_level(R"({"traceEvents":[ONE] "a":1, "b":2})").problems ==
        Strings{"trailing_garbage 1@21"});
  CHECK(read_top_level(R"({"traceEvents":[ONE],"a" 1})").problems ==
        Strings{"trailing_garbage 1@25"});
  CHECK(read_top_level(R"({"traceEvents":[ONE],"a":,"b":1})").problems ==
        Strings{"trailing_garbage 1@25"});
  for (const char* text : {"[ONE]x", R"({"traceEvents":[ONE],x)"}) {
    CHECK(read_top_level(text).error == "");
    CHECK(read_top_level(text, 1).lists == Strings{"ONE"});
  }
}

TEST_CASE("top_level: counts what is missing at the end") {
  CHECK(read_top_level("[ONE").problems == Strings{"missing_bracket 1@4"});
  CHECK(read_top_level(R"({"traceEvents":[ONE)").problems == Strings{"cut_object 1@19"});
  CHECK(read_top_level(R"({"traceEvents":[ONE],"a":1)").problems == Strings{"cut_object 1@26"});
  CHECK(read_top_level(R"({"traceEvents":[ONE])").problems == Strings{"cut_object 1@20"});
  TopLevelParser parser("t.json");
  parser.feed("[");
  parser.finish(10, true);
  CHECK(parser.problems().empty());
  TopLevelParser object("t.json");
  object.feed("{\"traceEvents\":[");
  object.finish(20, true);  // the keys after the events are lost, too
  CHECK(object.problems().kinds() == std::vector<Problem>{Problem::cut_object});
}

TEST_CASE("top_level: takes commas that are too many between members") {
  const ReadTopLevel result = read_top_level(R"({,"a":1,,"traceEvents":[ONE],})");
  CHECK(result.error == "");
  CHECK(result.members == Strings{"a=1"});
  CHECK(result.problems == Strings{"extra_comma 2@1"});
}

TEST_CASE("top_level: says why a text is no trace, and where") {
  CHECK(error_of("") == "t.json: byte 0: the file holds nothing but white space");
  CHECK(error_of(" \n\t ") == "t.json: byte 4: the file holds nothing but white space");
  CHECK(error_of("\"trace\"") ==
        "t.json: byte 0: not a trace: the text is a string, not a list of events");
  CHECK(error_of(" 12") ==
        "t.json: byte 1: not a trace: the text is a number, not a list of events");
  CHECK(error_of("-1") ==
        "t.json: byte 0: not a trace: the text is a number, not a list of events");
  CHECK(error_of("null") ==
        "t.json: byte 0: not a trace: the text is not JSON; a trace starts with [ or {");
  CHECK(error_of("hello") ==
        "t.json: byte 0: not a trace: the text is not JSON; a trace starts with [ or {");
  CHECK(error_of("{}") == "t.json: not a trace: no traceEvents in the object");
  CHECK(error_of(R"({"a":1})") ==
        "t.json: not a trace: no traceEvents in the object, whose keys are \"a\"");
  CHECK(
      error_of(R"({"a":1,"b":2,"\n":3,"d":4,"e":5})") ==
      R"(t.json: not a trace: no traceEvents in the object, whose keys are "a", "b", "\n", "d", ...)");
  CHECK(error_of(R"({"traceEvents":{}})") ==
        "t.json: not a trace: traceEvents is an object, not a list");
  CHECK(error_of(R"({"traceEvents":null})") ==
        "t.json: not a trace: traceEvents is null, not a list");
  CHECK(error_of(R"({"traceEvents":"[]"})") ==
        "t.json: not a trace: traceEvents is a string, not a list");
  CHECK(error_of(R"({"traceEvents":-1})") ==
        "t.json: not a trace: traceEvents is a number, not a list");
  CHECK(error_of(R"({"traceEvents":true})") ==
        "t.json: not a trace: traceEvents is a boolean, not a list");
}

TEST_CASE("top_level: says where an object stops being JSON before its events") {
  CHECK(error_of("{'a':1}") == "t.json: byte 1: not JSON: expected a key in quotes");
  CHECK(error_of(R"({"a" 1})") == "t.json: byte 5: not JSON: expected ':' behind the key \"a\"");
  CHECK(error_of(R"({"a":,)") == "t.json: byte 5: not JSON: expected a value behind the key \"a\"");
  CHECK(error_of(R"({"a": })") ==
        "t.json: byte 6: not JSON: expected a value behind the key \"a\"");
  CHECK(error_of(R"({"a":1 "b")") ==
        "t.json: byte 7: not JSON: expected ',' or '}' behind the value of \"a\"");
  CHECK(error_of(R"({"a":"x"])") ==
        "t.json: byte 8: not JSON: expected ',' or '}' behind the value of \"a\"");
  for (const std::string text :
       {"{", R"({"a)", R"({"a")", R"({"a":)", R"({"a":1)", R"({"a":{"b":1})", R"({"a":"x)",
        R"({"traceEvents")", R"({"traceEvents":)", R"({"a":"\)", R"({"traceEvents":{"a":[1])"}) {
    CAPTURE(text);
    CHECK(error_of(text) == "t.json: byte " + std::to_string(text.size()) +
                                ": the file is cut before its events begin");
  }
}

TEST_CASE("top_level: recognises JSON lines") {
  const std::string expected =
      "not a trace: looks like JSON lines, one object after the other; put the lines into one "
      "list: "
      "[ ..., ... ]";
  CHECK(error_of("{\"ph\":\"X\"}\n{\"ph\":\"X\"}\n") == "t.json: byte 11: " + expected);
  CHECK(error_of("{} []") == "t.json: byte 3: " + expected);
  CHECK(error_of("{\"a\":1}x") ==
        "t.json: byte 7: not a trace: text behind the end of the document");
}

TEST_CASE("top_level: leaves out what is beyond 64 MiB, keys included, and keeps the rest" *
          doctest::test_suite("long")) {
  const std::size_t mib = std::size_t{1} << 20;
  TopLevelParser parser("t.json");
  parser.feed("{\"before\":1");
  for (int i = 0; i < 8; ++i) parser.feed(",\"" + std::string(mib, 'k') + "\":2");
  const std::size_t value = 11 + 8 * (mib + 5) + 7;
  parser.feed(",\"big\":\"");
  for (int i = 0; i < 57; ++i) parser.feed(std::string(mib, 'x'));
  parser.feed("\",\"behind\":[3],\"traceEvents\":[");
  REQUIRE(parser.entries().size() == 10);
  CHECK(parser.value("before") == "1");
  CHECK(parser.value("big") == "");
  CHECK(parser.value("behind") == "[3]");
  CHECK(to_texts(parser.problems()) == Strings{"top_level_dropped 1@" + std::to_string(value)});
}

TEST_CASE("top_level: does not collect keys without end") {
  const std::string piece(std::size_t{1} << 20, 'k');
  TopLevelParser before("t.json");
  before.feed("{\"");
  before.feed(piece);
  CHECK_THROWS_WITH_AS(before.feed("k"), "t.json: byte 1048578: not JSON: a key that does not end",
                       Error);
  TopLevelParser behind("t.json");
  behind.feed("{\"traceEvents\":[");
  behind.resume(100);
  behind.feed(",\"");
  behind.feed(piece);
  behind.feed("k\":1}");
  CHECK(to_texts(behind.problems()) == Strings{"trailing_garbage 1@1048678"});
}
