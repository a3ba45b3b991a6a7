#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct Scanned {
  std::vector<std::string> events;
  std::vector<std::uint64_t> offsets;
  ProblemCounts problems;
  ScanEnd end = ScanEnd::text;
  std::size_t end_position = 0;
  Position next = Position::first;
};

Scanned scan(std::string_view text, Position position = Position::first, std::uint64_t offset = 0) {
  Scanned result;
  EventScanner scanner;
  scanner.start(text, offset, position, result.problems);
  while (const Event* event = scanner.next()) {
    result.events.emplace_back(event->raw);
    result.offsets.push_back(event->offset);
  }
  result.end = scanner.end();
  result.end_position = scanner.end_position();
  result.next = scanner.next_position();
  return result;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("event_scanner: gives the fields it knows as they are written") {
  const std::string text =
      R"({"ph": "X", "cat": "kernel", "name": "a\"b", "pid": 0, "tid": "stream 7",
    "ts": 1.5, "dur":2,"args": {"x": [1, {"y": "}"}]}, "id" : 31 })";
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 100, Position::first, problems);
  const Event* event = scanner.next();
  REQUIRE(event != nullptr);
  CHECK(event->raw == text);
  CHECK(event->offset == 100);
  CHECK(event->phase == 'X');
  CHECK(event->text(Key::name) == R"("a\"b")");
  CHECK(event->text(Key::tid) == "\"stream 7\"");
  CHECK(event->text(Key::ts) == "1.5");
  CHECK(event->text(Key::dur) == "2");
  CHECK(event->text(Key::args) == R"({"x": [1, {"y": "}"}]})");
  CHECK(event->text(Key::id) == "31");
  CHECK_FALSE(event->has(Key::scope));
  CHECK(event->flags.suspect_text);
  CHECK_FALSE(event->flags.duplicate_key);
  CHECK(scanner.next() == nullptr);
  CHECK(scanner.end() == ScanEnd::text);
  CHECK(problems.empty());
}

TEST_CASE("event_scanner: stops behind the bracket that closes the list") {
  const Scanned result = scan(R"({"a":1}, {"b":2} ] , "x": 3})");
  CHECK(result.events == Strings{R"({"a":1})", R"({"b":2})"});
  CHECK(result.end == ScanEnd::array);
  CHECK(result.end_position == 18);
}

TEST_CASE("event_scanner: says where the text was cut") {
  for (const char* text : {R"({"a":1},{"b":"x)", R"({"a":1},{"b":12)", R"({"a":1},{)",
                           R"({"a":1},{"b":{"c":1})", R"({"a":1},{"b":[1,)", R"({"a":1},{"b")"}) {
    CAPTURE(text);
    const Scanned result = scan(text);
    CHECK(result.events == Strings{R"({"a":1})"});
    CHECK(result.end == ScanEnd::cut);
    CHECK(result.end_position == 8);
    CHECK(result.next == Position::after_comma);
  }
}

TEST_CASE("event_scanner: counts commas too many and too few") {
  const Scanned result = scan(R"(,{"a":1},,{"b":2}{"c":3},])");
  CHECK(result.events.size() == 3);
  CHECK(result.problems.count(Problem::extra_comma) == 2);
  CHECK(result.problems.first_offset(Problem::extra_comma) == 0);
  CHECK(result.problems.count(Problem::missing_comma) == 1);
  CHECK(result.problems.first_offset(Problem::missing_comma) == 17);
  CHECK(result.problems.count(Problem::trailing_comma) == 1);
  CHECK(result.problems.first_offset(Problem::trailing_comma) == 24);
}

TEST_CASE("event_scanner: skips and counts what is no event") {
  const Scanned result = scan(R"(null, "s]", 12, [1,[2]], {}, {"a":1}])");
  CHECK(result.events == Strings{R"({"a":1})"});
  CHECK(result.problems.count(Problem::not_an_object) == 4);
  CHECK(result.problems.count(Problem::empty_object) == 1);
  CHECK(result.end == ScanEnd::array);
}

TEST_CASE("event_scanner: goes on behind an event that is not JSON") {
  const Scanned result = scan(
      R"~({"name":"a"},{"name": "lib("_x")", "ph":"X"},{"name":"b"},{"name":"c"}])~");
  CHECK(result.events == Strings{R"({"name":"a"})", R"({"name":"b"})", R"({"name":"c"})"});
  CHECK(result.problems.count(Problem::malformed_event) == 1);
  CHECK(result.problems.first_offset(Problem::malformed_event) == 13);
  CHECK(result.end == ScanEnd::array);
}

TEST_CASE("event_scanner: finds the end of the list behind a last event that is not JSON") {
  const Scanned result = scan(R"~({"name":"a"},{"name": "lib("_x")", "ph":"X"} ], "k": [1]})~");
  CHECK(result.events == Strings{R"({"name":"a"})"});
  CHECK(result.end == ScanEnd::array);
  CHECK(result.end_position == 46);
}

TEST_CASE("event_scanner: marks what has to be repaired") {
  const auto flags = [](std::string_view text) {
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems);
    return scanner.next()->flags;
  };
  CHECK(flags(R"({"ts":1,"ts":2})").duplicate_key);
  CHECK(flags(R"({"\u0070h":"X"})").escaped_key);
  CHECK(flags("{\"name\":\"a\tb\"}").suspect_text);
  CHECK(flags("{\"name\":\"\xc3\xa9\"}").suspect_text);
  CHECK_FALSE(flags("{\"name\":\n\t\"ab\"}").suspect_text);
  CHECK(flags(R"({"a":1,})").loose_syntax);
  CHECK(flags(R"({"a":NaN})").loose_syntax);
  CHECK(flags(R"({"a":01})").loose_syntax);
  CHECK_FALSE(flags(R"({"a":-1.5e+3,"b":true,"c":null})").loose_syntax);
}

TEST_CASE("event_scanner: an event larger than the window, and events across its end") {
  const std::string big = R"({"name":"big","args":{"text":")" + std::string(300'000, 'x') + "\"}}";
  std::string text;
  Strings expected;
  for (int i = 0; i < 3000; ++i) {
    expected.push_back(R"({"name":"e)" + std::to_string(i) + R"(","ts":1})");
    if (i == 1500) expected.back() = big;
    text += expected.back() + ",\n";
  }
  const Scanned result = scan(text, Position::after_comma, 1000);
  CHECK(result.events == expected);
  CHECK(result.offsets[1] == 1000 + expected[0].size() + 2);
  CHECK(result.problems.count(Problem::extra_comma) == 0);
  CHECK(result.next == Position::after_comma);
}

TEST_CASE("event_start: guesses only behind a closing brace and a comma") {
  CHECK(find_event_start(R"(xx}, {"ph":1})", 0) == 5);
  CHECK(find_event_start(R"(xx}, {"other":1})", 0) == std::string_view::npos);
  CHECK(find_event_start(R"(xx} {"ph":1})", 0) == std::string_view::npos);
  CHECK(find_event_start(R"({ "ts":1})", 0) == 0);
  const std::string text = R"({"ph":1},{"ph":2} , {"name":3},{"zz":4})";
  CHECK(find_last_event_start(text, 0) == 20);
  CHECK(find_last_event_start(text, 21) == std::string_view::npos);
}

TEST_CASE("event_scanner: says that a value it does not know is an object or a list") {
  const auto has_nested_value = [](const std::string& text) {
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems);
    const Event* event = scanner.next();
    REQUIRE(event != nullptr);
    return bool{event->flags.nested_value};
  };
  CHECK(has_nested_value(R"({"ph": "X", "other": {"a": 1}})"));
  CHECK(has_nested_value(R"({"other": [], "ph": "X"})"));
  CHECK_FALSE(has_nested_value(R"({"ph": "X", "args": {"a": 1}, "id2": {}, "other": "{}", "k": 1})"));
}

TEST_CASE("event_scanner: takes no comma before the first member, and no backslash in a list") {
  for (const char* text : {R"([{, "ph": "X"}])", R"([{"ph": "X", "k": [\"]}])"}) {
    CAPTURE(text);
    const Scanned scanned = scan(std::string_view(text).substr(1));
    CHECK(scanned.events.empty());
    CHECK(scanned.problems.count(Problem::malformed_event) == 1);
  }
}
