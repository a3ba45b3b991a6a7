#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct ScannedEvents {
  std::vector<std::string> events;
  std::vector<std::uint64_t> offsets;
  ProblemCounts problems;
  ScanEnd end = ScanEnd::text;
  std::size_t end_position = 0;
  Position next = Position::first;
};

ScannedEvents scan_text(std::string_view text, Position position = Position::first,
                        std::uint64_t offset = 0) {
  ScannedEvents result;
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
  const ScannedEvents result = scan_text(R"({"a":1}, {"b":2} ] , "x": 3})");
  CHECK(result.events == Strings{R"({"a":1})", R"({"b":2})"});
  CHECK(result.end == ScanEnd::array);
  CHECK(result.end_position == 18);
}

TEST_CASE("event_scanner: says where the text was cut") {
  for (const char* text : {R"({"a":1},{"b":"x)", R"({"a":1},{"b":12)", R"({"a":1},{)",
                           R"({"a":1},{"b":{"c":1})", R"({"a":1},{"b":[1,)", R"({"a":1},{"b")"}) {
    CAPTURE(text);
    const ScannedEvents result = scan_text(text);
    CHECK(result.events == Strings{R"({"a":1})"});
    CHECK(result.end == ScanEnd::cut);
    CHECK(result.end_position == 8);
    CHECK(result.next == Position::after_comma);
  }
}

TEST_CASE("event_scanner: counts commas too many and too few") {
  const ScannedEvents result = scan_text(R"(,{"a":1},,{"b":2}{"c":3},])");
  CHECK(result.events.size() == 3);
  CHECK(result.problems.count(Problem::extra_comma) == 2);
  CHECK(result.problems.first_offset(Problem::extra_comma) == 0);
  CHECK(result.problems.count(Problem::missing_comma) == 1);
  CHECK(result.problems.first_offset(Problem::missing_comma) == 17);
  CHECK(result.problems.count(Problem::trailing_comma) == 1);
  CHECK(result.problems.first_offset(Problem::trailing_comma) == 25);
}

TEST_CASE("event_scanner: skips and counts what is no event") {
  const ScannedEvents result = scan_text(R"(null, "s]", 12, [1,[2]], {}, {"a":1}])");
  CHECK(result.events == Strings{R"({"a":1})"});
  CHECK(result.problems.count(Problem::not_an_object) == 4);
  CHECK(result.problems.count(Problem::empty_object) == 1);
  CHECK(result.end == ScanEnd::array);
}

TEST_CASE("event_scanner: goes on behind an event that is not JSON") {
  const ScannedEvents result =
      scan_text(R"~({"name":"a"},{"name": "lib("_x")", "ph":"X"},{"name":"b"},{"name":"c"}])~");
  CHECK(result.events == Strings{R"({"name":"a"})", R"({"name":"b"})", R"({"name":"c"})"});
  CHECK(result.problems.count(Problem::malformed_event) == 1);
  CHECK(result.problems.first_offset(Problem::malformed_event) == 13);
  CHECK(result.end == ScanEnd::array);
}

TEST_CASE("event_scanner: takes zero bytes that a crash has left for no value") {
  const std::string hole = R"({"name":"a","pid": )" + std::string(9000, '\0');
  const ScannedEvents result = scan_text(R"({"name":"a"},)" + hole + R"(:"c"},{"name":"b"}])");
  CHECK(result.events == Strings{R"({"name":"a"})", R"({"name":"b"})"});
  CHECK(result.problems.count(Problem::malformed_event) == 1);
  CHECK(result.problems.first_offset(Problem::malformed_event) == 13);
}

TEST_CASE("event_scanner: finds the end of the list behind a last event that is not JSON") {
  const ScannedEvents result =
      scan_text(R"~({"name":"a"},{"name": "lib("_x")", "ph":"X"} ], "k": [1]})~");
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
  const ScannedEvents result = scan_text(text, Position::after_comma, 1000);
  CHECK(result.events == expected);
  CHECK(result.offsets[1] == 1000 + expected[0].size() + 2);
  CHECK(result.problems.count(Problem::extra_comma) == 0);
  CHECK(result.next == Position::after_comma);
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
  CHECK_FALSE(
      has_nested_value(R"({"ph": "X", "args": {"a": 1}, "id2": {}, "other": "{}", "k": 1})"));
}

TEST_CASE("event_scanner: takes no comma before the first member, and no backslash in a list") {
  for (const char* text : {R"([{, "ph": "X"}])", R"([{"ph": "X", "k": [\"]}])"}) {
    CAPTURE(text);
    const ScannedEvents scanned = scan_text(std::string_view(text).substr(1));
    CHECK(scanned.events.empty());
    CHECK(scanned.problems.count(Problem::malformed_event) == 1);
  }
}

TEST_CASE("event_scanner: takes any white space between the parts of an event") {
  const std::string text =
      "\r\n\t { \n\"ph\"\t:\r\n\"X\" \n,\t\"ts\" : 1.5 \r\n,\n\n\"args\"\n:\n{ } }\n ,"
      "{\"ph\":\"X\",\"ts\":2\t,\"args\":[ ]\n}\r\n]";
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  const Event* event = scanner.next();
  REQUIRE(event != nullptr);
  CHECK(event->offset == 4);
  CHECK(event->phase == 'X');
  CHECK(event->text(Key::ts) == "1.5");
  CHECK(event->text(Key::args) == "{ }");
  event = scanner.next();
  REQUIRE(event != nullptr);
  CHECK(event->text(Key::ts) == "2");
  CHECK(event->text(Key::args) == "[ ]");
  CHECK_FALSE(event->flags.loose_syntax);
  CHECK(scanner.next() == nullptr);
  CHECK(scanner.end() == ScanEnd::array);
  CHECK(problems.empty());
}

TEST_CASE("event_scanner: values may be nested as deep as they like") {
  const std::size_t depth = 200'000;
  std::string text = R"({"name":"a","args":)";
  for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
  text += "1" + std::string(depth, '}') + R"(,"ts":)" + std::string(depth, '[') +
          std::string(depth, ']') + R"(},{"name":"b"}])";
  const ScannedEvents result = scan_text(text);
  REQUIRE(result.events.size() == 2);
  CHECK(result.events[1] == R"({"name":"b"})");
  CHECK(result.problems.empty());
  CHECK(result.end == ScanEnd::array);
}

TEST_CASE("event_scanner: the phase is the first character of ph") {
  const auto phase = [](const std::string& ph) {
    const std::string text = "{\"name\":1,\"ph\":" + ph + "}";
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems);
    return scanner.next()->phase;
  };
  CHECK(phase(R"("X")") == 'X');
  CHECK(phase(R"("XY")") == 'X');
  CHECK(phase(R"("\u0058")") == 'X');
  CHECK(phase(R"("\"")") == '"');
  CHECK(phase(R"("")") == 0);
  CHECK(phase("5") == 0);
  CHECK(phase("null") == 0);
  CHECK(phase("{\"X\":1}") == 0);
}

TEST_CASE("event_scanner: the last of two equal keys is taken") {
  const std::string text = R"({"ts":1,"\u0074s":2,"ph":"X","ts":"3"})";
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  const Event* event = scanner.next();
  REQUIRE(event != nullptr);
  CHECK(event->text(Key::ts) == "\"3\"");
  CHECK(event->flags.duplicate_key);
  CHECK(event->flags.escaped_key);
}

TEST_CASE("event_scanner: counts each comma where it stands, also at the border of a piece") {
  const ScannedEvents first = scan_text(R"({"a":1},,,)");
  CHECK(first.problems.count(Problem::extra_comma) == 2);
  CHECK(first.problems.first_offset(Problem::extra_comma) == 8);
  CHECK(first.next == Position::after_comma);
  const ScannedEvents second = scan_text(R"(,{"a":1})", Position::after_comma, 100);
  CHECK(second.problems.count(Problem::extra_comma) == 1);
  CHECK(second.problems.first_offset(Problem::extra_comma) == 100);
  CHECK(scan_text(R"({"a":1})", Position::after_event, 100)
            .problems.first_offset(Problem::missing_comma) == 100);
  CHECK(scan_text(",]").problems.count(Problem::extra_comma) == 1);
  CHECK(scan_text(",]").problems.count(Problem::trailing_comma) == 0);
  CHECK(
      scan_text(" ]", Position::after_comma, 100).problems.first_offset(Problem::trailing_comma) ==
      101);
}

TEST_CASE("event_scanner: commas are counted however regularly there are too many or too few") {
  const auto list = [](const std::string& between) {
    std::string text;
    for (int i = 0; i < 50; ++i)
      text += (i == 0 ? "" : between) + R"({"ph":"X","ts":)" + std::to_string(i) + "}";
    return text + "]" + std::string(100, ' ');
  };
  CHECK(scan_text(list(",\n")).problems.empty());
  CHECK(scan_text(list(",,")).problems.count(Problem::extra_comma) == 49);
  CHECK(scan_text(list(", ,\n")).problems.count(Problem::extra_comma) == 49);
  CHECK(scan_text(list("\n")).problems.count(Problem::missing_comma) == 49);
  CHECK(scan_text(list("")).problems.count(Problem::missing_comma) == 49);
  CHECK(scan_text(list(",           ")).problems.empty());
}

TEST_CASE("event_scanner: a scanner that is used again forgets the text before") {
  ProblemCounts before;
  EventScanner scanner;
  const std::string first = R"({"a":1},{"a":2},)";
  scanner.start(first, 0, Position::first, before);
  while (scanner.next() != nullptr) {
  }
  ProblemCounts problems;
  scanner.start("]", 50, Position::after_comma, problems);
  CHECK(scanner.next() == nullptr);
  CHECK(problems.first_offset(Problem::trailing_comma) == 50);
  CHECK(problems.kinds().size() == 1);
}

TEST_CASE("event_scanner: a word with a quote or backslash in it does not hide what follows") {
  for (const char* junk : {R"(ab"c)", R"(\")", R"(it's "x)", R"(5\)"}) {
    CAPTURE(junk);
    const ScannedEvents result = scan_text(R"({"name":"a"},)" + std::string(junk) +
                                           R"(,{"name":"b"},{"name":"c"},{"name":"d"}])");
    // Without a brace before it, b cannot be recognised as an event.
    CHECK(result.events == Strings{R"({"name":"a"})", R"({"name":"c"})", R"({"name":"d"})"});
    CHECK(result.problems.count(Problem::malformed_event) == 1);
    CHECK(result.problems.first_offset(Problem::malformed_event) == 13);
    CHECK(result.end == ScanEnd::array);
  }
}

TEST_CASE("event_scanner: a quote too many does not swallow the events that follow") {
  const std::string text =
      R"({"name":"a"},{"name":"b","args":{"s":"x"y"}},{"name":"c"},{"name":"d"}])";
  for (const Behind behind : {Behind::nothing, Behind::more_text}) {
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems, behind);
    Strings events;
    while (const Event* event = scanner.next()) events.emplace_back(event->raw);
    CHECK(events == Strings{R"({"name":"a"})", R"({"name":"c"})", R"({"name":"d"})"});
    CHECK(problems.count(Problem::malformed_event) == 1);
    CHECK(problems.first_offset(Problem::malformed_event) == 13);
    CHECK(scanner.end() == ScanEnd::array);
  }
}

TEST_CASE("event_scanner: leaves an event that is not JSON to whoever knows the text behind it") {
  const std::string text = R"~({"name":"a"},{"name":"lib("_x")","args":{"l":[{"q":1}]}},)~";
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems, Behind::more_text);
  REQUIRE(scanner.next() != nullptr);
  CHECK(scanner.next() == nullptr);
  CHECK(scanner.end() == ScanEnd::cut);
  CHECK(scanner.end_position() == 13);
  CHECK(scanner.next_position() == Position::after_comma);
  CHECK(problems.empty());
  const ScannedEvents joined = scan_text(text + R"({"name":"b"}])");
  CHECK(joined.events == Strings{R"({"name":"a"})", R"({"name":"b"})"});
  CHECK(joined.problems.count(Problem::malformed_event) == 1);
}

TEST_CASE("event_scanner: two stray quotes far apart do not hide what stands between them") {
  const std::string stray = R"({"name":"b","args":{"s":"x"y"}},)";
  std::string text = R"({"name":"a"},)" + stray;
  for (int i = 0; i < 100; ++i) text += R"({"name":"hidden"},)";
  const std::string all = text + stray + R"({"name":"c"},{"name":"d"}])";
  const ScannedEvents result = scan_text(all);
  CHECK(result.events.size() == 103);
  CHECK(result.problems.count(Problem::malformed_event) == 2);
  CHECK(result.problems.first_offset(Problem::malformed_event) == 13);
  CHECK(result.end == ScanEnd::array);
}
