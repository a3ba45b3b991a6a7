#include "scan/event_repair.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "scan/event_scanner.h"
#include "support/random_json.h"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Counts = std::vector<std::pair<Problem, std::uint64_t>>;

struct Repaired {
  bool clean = false;
  std::string text;
  Counts problems;
};

constexpr std::uint64_t kOffset = 1000;

Repaired repair(const std::string& text) {
  ProblemCounts scan_problems;
  EventScanner scanner;
  scanner.start(text, kOffset, Position::first, scan_problems);
  const Event* event = scanner.next();
  REQUIRE(event != nullptr);
  REQUIRE(event->raw == text);
  Repaired result;
  result.clean = is_clean_event(*event);
  ProblemCounts problems;
  result.text = repair_event(*event, problems);
  for (const Problem problem : problems.kinds()) {
    result.problems.emplace_back(problem, problems.count(problem));
    CHECK(problems.first_offset(problem) == kOffset);
  }
  return result;
}

void check_repair(const std::string& text, const std::string& expected, const Counts& problems) {
  CAPTURE(text);
  const Repaired result = repair(text);
  CHECK_FALSE(result.clean);
  CHECK(result.text == expected);
  CHECK(result.problems == problems);
  CHECK(is_strict_json(result.text));
}

void check_clean(const std::string& text) {
  CAPTURE(text);
  CHECK(repair(text).clean);
  CHECK(is_strict_json(text));
}

bool simdjson_accepts(const std::string& text) {
  simdjson::dom::parser parser;
  return parser.parse(text).error() == simdjson::SUCCESS;
}

// The value of a key as a reader of JSON sees it.
std::string meaning(const Event& event, Key key) {
  return event.has(key) ? decoded(event.text(key)) : "(absent)";
}

std::string random_event(RandomJson& random) {
  std::string text = R"({"ph": "X", "name": )" + random.string() + R"(, "ts": )" + random.number();
  if (random.below(2) == 0) text += ",\n \"pid\": 7, \"tid\" : " + random.value(1);
  if (random.below(2) == 0) text += ", \"cat\":" + random.string();
  if (random.below(4) == 0) text += ", " + random.string() + ":" + random.value(3);
  if (random.below(2) == 0) text += ", \"args\": " + random.object(4);
  if (random.below(8) == 0) text += R"(, "\u0070h": "B")";
  if (random.below(8) == 0) text += R"(, "ts": NaN)";
  if (random.below(8) == 0) text += random.below(2) == 0 ? "," : " , ";
  return text + "}";
}

}  // namespace

TEST_CASE("event_repair: sees that nothing is wrong") {
  check_clean(R"({"ph": "X", "ts": 1.5, "dur": 0, "pid": 0, "tid": "Spans", "name": "a"})");
  check_clean("{\n  \"ph\":\"X\" , \"ts\":-1e3,\r\n\"args\" :\t{\"a\": [1, {}], \"b\": null} }");
  check_clean(R"({"ph": "b", "id2": {"local": "0x1"}, "other": [1, [2]], "flag": true})");
  check_clean(R"({"ph": "X", "name": "C:\\x \u00e9", "args": {"a": "\n"}})");
  check_clean("{\"ph\": \"X\", \"name\": \"caf\xC3\xA9\"}");
  check_clean(R"({"ph": "X", "args": {"a": 1, "b": {"c": 1, "c": 2}}, "k": 1, "k": 2})");
  for (const char* args : {"null", "\"__stripped__\"", "[1, 2]", "7", "true"})
    check_clean(std::string(R"({"ph": "X", "args": )") + args + "}");
}

TEST_CASE("event_repair: escapes control characters") {
  const Counts once{{Problem::control_character, 1}};
  check_repair("{\"name\": \"a\tb\nc\", \"cat\": \"\x01\"}", R"({"name":"a\tb\nc","cat":"\u0001"})",
               once);
  check_repair(std::string("{\"name\": \"a\0b\"}", 15), R"({"name":"a\u0000b"})", once);
  check_repair("{\"a\nb\": 1}", R"({"a\nb":1})", once);
  check_repair("{\"args\": {\"x\": [\"\x1F\"]}}", R"({"args":{"x":["\u001f"]}})", once);
}

TEST_CASE("event_repair: keeps bad escapes as a backslash and a character") {
  const Counts once{{Problem::bad_escape, 1}};
  check_repair(R"({"name": "C:\_x\cuda\n"})", R"({"name":"C:\\_x\\cuda\n"})", once);
  check_repair(R"({"args": {"p\q": "\u12"}})", R"({"args":{"p\\q":"\\u12"}})", once);
}

TEST_CASE("event_repair: joins surrogate pairs and replaces half ones") {
  check_repair(R"({"name": "\ud83d\ude00 ok", "args": {"\uD83D\uDE00": 1}})",
               "{\"name\":\"\xF0\x9F\x98\x80 ok\",\"args\":{\"\xF0\x9F\x98\x80\":1}}", {});
  check_repair(R"({"name": "\ud83d!\ude00"})", "{\"name\":\"\xEF\xBF\xBD!\xEF\xBF\xBD\"}",
               {{Problem::bad_escape, 1}});
}

TEST_CASE("event_repair: replaces bytes that are not UTF-8") {
  const Counts once{{Problem::invalid_utf8, 1}};
  check_repair("{\"name\": \"a\xFF\x62\", \"cat\": \"\x80\"}",
               "{\"name\":\"a\xEF\xBF\xBD\x62\",\"cat\":\"\xEF\xBF\xBD\"}", once);
  check_repair("{\"args\": {\"\xC0\xAF\": 1}}", "{\"args\":{\"\xEF\xBF\xBD\xEF\xBF\xBD\":1}}",
               once);
}

TEST_CASE("event_repair: writes values that JSON does not have as strings") {
  const Counts once{{Problem::not_json_value, 1}};
  check_repair(R"({"ts": NaN, "dur": -Infinity, "pid": 0x10, "tid": 01})",
               R"({"ts":"NaN","dur":"-Infinity","pid":"0x10","tid":"01"})", once);
  check_repair(R"({"dur": -12.-345, "ts": 5})", R"({"dur":"-12.-345","ts":5})",
               {{Problem::broken_negative, 1}});
  check_repair(R"({"tts": -12.-345, "ts": 0.-6x})", R"({"tts":"-12.-345","ts":"0.-6x"})", once);
  check_repair(R"({"other": None , "ph": "X"})", R"({"other":"None","ph":"X"})", once);
  check_repair(R"({"args": {"a": nan, "b": [Infinity, 1 , .5 ]}})",
               R"({"args":{"a":"nan","b":["Infinity",1,".5"]}})", once);
  check_repair("{\"pid\": 1 2, \"tid\": a\\b\xFF}",
               "{\"pid\":\"1 2\",\"tid\":\"a\\\\b\xEF\xBF\xBD\"}", once);
  check_repair(std::string("{\"pid\": 7\0}", 11), R"({"pid":"7\u0000"})", once);
}

TEST_CASE("event_repair: keeps the last of two members with a known key") {
  const Counts once{{Problem::duplicate_key, 1}};
  check_repair(R"({"name": "a", "ts": 1, "ph": "X", "name": "b", "ts": 2})",
               R"({"ph":"X","name":"b","ts":2})", once);
  check_repair(R"({"ph": "X", "k": 1, "\u0070h": "B", "k": 2})", R"({"k":1,"ph":"B","k":2})", once);
  check_repair(R"({"args": {"a": NaN}, "args": {"a": 1, "b": 2}})", R"({"args":{"a":1,"b":2}})",
               once);
}

TEST_CASE("event_repair: writes keys without escapes") {
  check_repair(R"({"\u0070h": "X", "n\u0061me": "a\/b"})", R"({"ph":"X","name":"a/b"})", {});
}

TEST_CASE("event_repair: of a key that stands twice in args the last one stays") {
  const Counts once{{Problem::duplicate_key, 1}};
  check_repair(R"({"args": {"a": 1, "b": [1, 1], "a": {"x": 2}, "c": 3, "a": 4}})",
               R"({"args":{"b":[1,1],"c":3,"a":4}})", once);
  check_repair(R"({"args": {"a": 1, "\u0061": 2}})", R"({"args":{"a":2}})", once);
  check_repair(R"({"ph": "X", "args": {"": 1, "": 1}})", R"({"ph":"X","args":{"":1}})", once);
  std::string many = R"({"args":{)";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\":1,";
  check_clean(many + "\"k\":2}}");
  check_repair(many + "\"k0\":2}}",
               R"({"args":{)" + many.substr(many.find("\"k1\"")) + "\"k0\":2}}", once);
  check_clean(R"({"args": {"a": {"b": 1}, "b": 1}})");
  check_clean(R"({"args": [1, 1]})");
}

TEST_CASE("event_repair: leaves out commas before closing braces and brackets") {
  const Counts once{{Problem::trailing_comma, 1}};
  check_repair("{\"ph\": \"X\", \"ts\": 1 , }", R"({"ph":"X","ts":1})", once);
  check_repair(R"({"ph": "X",})", R"({"ph":"X"})", once);
  check_repair(R"({"args": {"a": [1, 2,], "b": {"c": [] , } ,}})",
               R"({"args":{"a":[1,2],"b":{"c":[]}}})", once);
}

TEST_CASE("event_repair: keeps what it cannot understand as text") {
  const Counts once{{Problem::bad_args, 1}};
  for (const std::string args :
       {"{a: 1}", "{1: 2}", "{\"a\" 1}", "{\"a\":}", "{\"a\"}", "[1,,2]", "[,]", "{,}", "[1 \"a\"]",
        "[}]", "{]}", "{\"a\":1 \"b\":2}", "{\"a\": [1}", "{NaN}", "[\"a\": 1]"}) {
    std::string quoted;
    for (const char c : args) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    check_repair("{\"args\": " + args + ", \"ph\": \"X\"}",
                 "{\"args\":{\"unparsed\":\"" + quoted + "\"},\"ph\":\"X\"}", once);
    check_repair("{\"other\": " + args + "}", "{\"other\":{\"unparsed\":\"" + quoted + "\"}}",
                 once);
  }
  check_repair(
      "{\"args\": {\"a\": \"\n\xFF\", \"b\": NaN, c}}",
      "{\"args\":{\"unparsed\":\"{\\\"a\\\": \\\"\\n\xEF\xBF\xBD\\\", \\\"b\\\": NaN, c}\"}}",
      once);
  check_repair("{\"args\": {\"a\": \\\"x, \"b\": 1}}",
               R"({"args":{"unparsed":"{\"a\": \\\"x, \"b\": 1}"}})", once);
}

TEST_CASE("event_repair: keeps what nests too deep as text") {
  const auto lists = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  for (const std::string key : {"args", "other"}) {
    check_clean("{\"" + key + "\": " + lists(kMaxJsonDepth - 1) + "}");
    for (const std::size_t depth : {kMaxJsonDepth, std::size_t{10'000}})
      check_repair("{\"" + key + "\": " + lists(depth) + "}",
                   "{\"" + key + "\":{\"unparsed\":\"" + lists(depth) + "\"}}",
                   {{Problem::bad_args, 1}});
  }
  check_repair("{\"ts\": 1, \"args\": " + lists(kMaxJsonDepth - 1) + ",}",
               "{\"ts\":1,\"args\":" + lists(kMaxJsonDepth - 1) + "}",
               {{Problem::trailing_comma, 1}});
}

TEST_CASE("event_repair: counts every kind once and says where") {
  check_repair(
      "{\"name\": \"\t\\x\xFF\", \"cat\": \"\t\\x\xFF\", \"ts\": NaN, \"ts\": NaN, \"dur\": nan,"
      " \"args\": {\"a\": NaN,}, \"id2\": {x},}",
      "{\"name\":\"\\t\\\\x\xEF\xBF\xBD\",\"cat\":\"\\t\\\\x\xEF\xBF\xBD\",\"ts\":\"NaN\",\"dur\":"
      "\"nan\","
      "\"args\":{\"a\":\"NaN\"},\"id2\":{\"unparsed\":\"{x}\"}}",
      {{Problem::trailing_comma, 1},
       {Problem::duplicate_key, 1},
       {Problem::bad_args, 1},
       {Problem::invalid_utf8, 1},
       {Problem::control_character, 1},
       {Problem::bad_escape, 1},
       {Problem::not_json_value, 1}});
}

TEST_CASE("event_repair: drops white space and changes nothing else of what is strict") {
  const Repaired result =
      repair("{\n \"ph\" : \"X\", \"args\": { \"a\" : [ 1.50 , -0e1,\r\n {} ] , \"b\": \" \" }\t}");
  CHECK(result.clean);
  CHECK(result.text == R"({"ph":"X","args":{"a":[1.50,-0e1,{}],"b":" "}})");
  CHECK(result.problems.empty());
}

TEST_CASE("event_repair: turns every event that the scanner yields into the same in strict JSON" *
          doctest::test_suite("long")) {
  RandomJson random(4711);
  EventScanner scanner;
  EventScanner again;
  std::size_t clean = 0;
  std::size_t broken = 0;
  for (int round = 0; round < 10'000; ++round) {
    const std::string original = random_event(random);
    const std::string text = random.below(8) == 0 ? original : random.damaged(original);
    CAPTURE(text);
    ProblemCounts problems;
    scanner.start(text, 0, Position::first, problems);
    while (const Event* event = scanner.next()) {
      const bool strict = is_strict_json(event->raw);
      CHECK(is_clean_event(*event) ==
            (strict && !event->flags.duplicate_key && !event->flags.escaped_key &&
             !repeats_key(event->text(Key::args))));
      ++(strict ? clean : broken);
      const std::string repaired = repair_event(*event, problems);
      CAPTURE(repaired);
      CHECK(is_strict_json(repaired));
      CHECK((has_extreme_number(repaired) || simdjson_accepts(repaired)));
      again.start(repaired, 0, Position::first, problems);
      const Event* second = again.next();
      REQUIRE(second != nullptr);
      CHECK(second->raw == repaired);
      CHECK(is_clean_event(*second));
      CHECK(second->present == event->present);
      for (const Key key : {Key::name, Key::ph, Key::ts, Key::cat, Key::pid})
        if (!event->has(key) || (event->text(key)[0] != '{' && event->text(key)[0] != '['))
          CHECK(meaning(*second, key) == to_valid_utf8(meaning(*event, key)));
      if (is_json_string(event->text(Key::ph)) && event->phase > 0)
        CHECK(second->phase == event->phase);
    }
  }
  CHECK(clean > 1500);
  CHECK(broken > 1500);
}
