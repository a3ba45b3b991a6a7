#include "scan/list_reader.h"

#include "base/problems.h"
#include "scan/plain_scan.h"
#include "support/random_trace.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

void check_list_chunks(const std::string& text, std::size_t chunk_bytes) {
  FoundFile expected = scan_whole(text, "t.json");
  const FoundFile found = scan_chunks(text, chunk_bytes);
  if (found.error != expected.error) {
    // ListReader alone refuses a list in which nothing is an event.
    REQUIRE(found.error.find("not a trace: ") != std::string::npos);
    for (const FoundEvent& event : expected.events)
      REQUIRE(event.raw.find("\"ph\"") == std::string::npos);
    return;
  }
  if (!expected.error.empty()) return;
  REQUIRE(found.events == expected.events);
  REQUIRE(found.problems == expected.problems);
  REQUIRE(found.members == expected.members);
  REQUIRE(found == expected);
}

using Strings = std::vector<std::string>;

std::string event(int number) {
  return R"({"ph":"i","name":"e)" + std::to_string(number) + R"(","ts":)" + std::to_string(number) +
         "}";
}

// A list of `count` events, `odd` in the middle.
std::string list_with(const std::string& odd, int count = 60) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i == count / 2 ? odd : event(i)) + ",\n";
  return text + event(count) + "]";
}

}  // namespace

TEST_CASE("list_reader: chunks of all sizes give what the whole text gives") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::string text =
        random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3), .events = 40});
    for (std::size_t size = 8; size < 600; size += 9) check_list_chunks(text, size);
    check_list_chunks(text, text.size());
    check_list_chunks(text, text.size() + 1);
  }
}

TEST_CASE("list_reader: a guess inside an event is found out") {
  std::string objects = R"({"name":"o"})";
  for (int i = 0; i < 200; ++i) objects += R"(,{"name":"inner","ph":"X","ts":1})";
  const std::string nested = R"({"name":"big","args":{"list":[)" + objects + R"(],"deep":[[)" +
                             objects + R"(]]},"stack":[)" + objects + R"(],"ph":"X"})";
  const std::string text = list_with(nested);
  for (std::size_t size = 20; size < 3000; size += 37) {
    check_list_chunks(text, size);
    CHECK(scan_chunks(text, size).event_count == 61);
  }
}

TEST_CASE("list_reader: borders of chunks inside strings, at quotes that are escaped") {
  const std::string name = R"(\"},{\"name\":\"x\\\"\\\\)";
  std::string text = "[";
  for (int i = 0; i < 40; ++i)
    text += R"({"name":")" + name + R"(","args":{")" + name + name + R"(":"\\"}},)";
  text += event(1) + "]";
  for (std::size_t size = 8; size < 300; ++size) check_list_chunks(text, size);
}

TEST_CASE("list_reader: lists one behind the other, in one chunk or many") {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += i % 3 == 0 ? R"({"traceEvents":[)" + event(i) + "," + event(i) + R"(],"n":1})"
                       : "[" + event(i) + "]\n";
  for (std::size_t size = 8; size < text.size() + 8; size += 5) check_list_chunks(text, size);
  CHECK(scan_chunks(text, 50).event_count == 40);
}

TEST_CASE("list_reader: members behind the list that look like events do not become some") {
  const std::string text =
      R"({"traceEvents":[{"ph":"X"},{"ph":"Y"}],"devices":[{"name":"a"},{"name":
      "b"},{"name":"c"},{"name":"d"}],"traceEvents":[{"name":"e"},{"name":"f"}],"z":{"name":1}})";
  for (std::size_t size = 8; size < 200; ++size) check_list_chunks(text, size);
  CHECK(scan_chunks(text, 64).event_count == 4);
  CHECK(scan_chunks(text, 64).problems ==
        Strings{"second_trace_events 1@" + std::to_string(text.rfind('['))});
}

TEST_CASE("list_reader: members before the list that look like events do not become some") {
  const std::string text =
      R"({"devices":[{"name":"a"},{"name":"b"},{"name":"c"}],"traceEvents":[{"ph":"X"},{"ph":"Y"}]})";
  for (std::size_t size = 8; size < 100; ++size) check_list_chunks(text, size);
}

TEST_CASE("list_reader: an event that is not JSON costs itself alone, wherever the chunks end") {
  for (const char* bad : {R"~({"name":"lib("_x")","args":{"l":[{"q":1}]}})~", R"({"name" "x"})",
                          R"({"name":"x","args":{}]})", R"({{"zz":"x"}})", R"({"a":[\"]})"}) {
    CAPTURE(bad);
    const std::string text = list_with(bad);
    for (std::size_t size = 8; size < 300; size += 3) {
      check_list_chunks(text, size);
      const FoundFile found = scan_chunks(text, size);
      CHECK(found.event_count == 60);
      CHECK(found.problems == Strings{"malformed_event 1@" + std::to_string(text.find(bad))});
    }
  }
}

TEST_CASE("list_reader: commas too many and too few are counted once, wherever the chunks end") {
  const std::string text = R"([,{"ts":1},,{"ts":2} {"ts":3},,,{"ts":4},5,{},{"ph":"i"},])";
  for (std::size_t size = 4; size < 80; ++size) {
    CHECK(scan_chunks(text, size).problems == Strings{"trailing_comma 1@57", "extra_comma 4@1",
                                                      "missing_comma 1@21", "not_an_object 1@41",
                                                      "empty_object 1@43"});
  }
}

TEST_CASE("list_reader: a cut text, wherever the chunks end") {
  const std::string text = random_trace({.seed = 7, .style = TraceStyle::kineto, .events = 12});
  for (std::size_t size = 1; size < text.size(); size += 3)
    for (const std::size_t chunk : {16U, 50U, 200U, 1000U})
      check_list_chunks(text.substr(0, size), chunk);
}

TEST_CASE("list_reader: text damaged without loss of a quote, wherever the chunks end") {
  std::mt19937_64 random(8);
  static constexpr std::string_view kJunk[] = {"{", "}", "[",  "]",     ",",   ":",    "\"\"",
                                               "x", " ", "\n", "\"a\"", "},{", "NaN,", "]["};
  for (std::uint64_t i = 0; i < 600; ++i) {
    std::string text =
        random_trace({.seed = i % 20, .style = static_cast<TraceStyle>(i % 3), .events = 12});
    for (std::size_t times = 1 + random() % 4; times > 0; --times) {
      // The junk must not go inside an escape, because it would then escape a quote.
      std::size_t at = random() % text.size();
      while (at > 0 && text[at - 1] == '\\') --at;
      text.insert(at, kJunk[random() % std::size(kJunk)]);
    }
    CAPTURE(text);
    for (const std::size_t chunk : {16U, 61U, 200U, 555U}) check_list_chunks(text, chunk);
  }
}

TEST_CASE("list_reader: an event larger than many chunks") {
  const std::string big = R"({"name":"big","args":")" + std::string(5'000, 'x') + R"(","ts":1})";
  const std::string text = list_with(big);
  for (std::size_t size = 16; size < 400; size += 11) {
    check_list_chunks(text, size);
    CHECK(scan_chunks(text, size, big.size()).event_count == 61);
  }
}

TEST_CASE("list_reader: skips an event beyond the limit, and only that") {
  for (const char filler : {'x', '{'}) {
    const std::string big = R"({"name":")" + std::string(5'000, filler) + R"(","ts":1})";
    const std::string text = list_with(big);
    const Strings expected = {"event_too_large 1@" + std::to_string(text.find(big))};
    for (std::size_t size = 64; size < 900; size += 11) {
      CAPTURE(size);
      const FoundFile found = scan_chunks(text, size, 1'500);
      // The brace that ends it may stand in a chunk before the next event's.
      CHECK(found.event_count >= 59);
      CHECK(found.event_count <= 60);
      CHECK(found.problems == expected);
      CHECK(found.events.back().raw == event(60));
    }
  }
}

TEST_CASE("list_reader: keeps no more of a text without end than the limit") {
  std::string text = "[" + event(1) + R"(,{"name":")" + std::string(100'000, 'x');
  for (const std::size_t size : {64U, 1000U}) {
    const FoundFile found = scan_chunks(text, size, 4'000);
    CHECK(found.event_count == 1);
    CHECK(found.problems == Strings{"missing_bracket 1@" + std::to_string(text.size()),
                                    "event_too_large 1@" + std::to_string(text.find(",{") + 1)});
  }
}

TEST_CASE("list_reader: a list in which nothing is JSON is no trace") {
  const std::string text = R"({"traceEvents":[ {'name':'x'},{'name':'y'} ]})";
  for (const std::size_t size : {16U, 100U})
    CHECK(scan_chunks(text, size).error ==
          "t.json: byte 17: not a trace: what stands in the event list is not JSON");
}

TEST_CASE("list_reader: a list of something else is no trace") {
  const std::string no_objects =
      "t.json: byte 2: not a trace: what stands in the event list are no objects, as events are";
  for (const std::size_t size : {16U, 100U}) {
    CHECK(scan_chunks("[ 1, 2, null]", size).error == no_objects);
    CHECK(scan_chunks("[ [[[[[[[[[[[[[[[[[[[", size).error == no_objects);
    CHECK(scan_chunks(R"([ {"kernel":"a","us":3}, {"kernel":"b","us":4} ])", size).error ==
          "t.json: not a trace: nothing in the list has a phase (ph), as events have");
    CHECK(scan_chunks(R"([ 1, {"kernel":"a"}, {"ph":"X"} ])", size).error == "");
  }
}

TEST_CASE("list_reader: refuses times in nanoseconds since 1970, if there are no others") {
  const std::string nanoseconds =
      R"([ {"ph":"M","ts":5}, {"ph":"X","ts":"abc"}, {"ph":"i","ts":"1795202294140462000"},)"
      R"( {"ph":"X","ts":1795202294140462000.5,"dur":3})";
  const std::string refused =
      "t.json: byte 44: its times are nanoseconds since 1970, not microseconds as in traces; "
      "divide "
      R"x(ts and dur by 1000: perl -Minteger -pe 's#"(ts|dur)": *\K\d+#sprintf "%d.%03d", )x"
      "$&/1000, $&%1000#ge'";
  for (const std::size_t size : {16U, 100U, 1000U}) {
    CHECK(scan_chunks(nanoseconds + "]", size).error == refused);
    CHECK(scan_chunks(nanoseconds + R"(, {"ph":"i","ts":7}])", size).error == "");
    for (const char* ts : {"-1795202294140462000", "17952022941404620000", "1e18", "NaN"})
      CHECK(scan_chunks(R"([{"ph":"i","ts":)" + std::string(ts) + "}]", size).error == "");
  }
}

TEST_CASE("list_reader: a list that is empty, or cut inside its first event, is a trace") {
  for (const std::size_t size : {16U, 100U}) {
    CHECK(scan_chunks(" [ ] ", size).problems == Strings{"empty_trace 1@0"});
    CHECK(scan_chunks("[{}]", size).problems == Strings{"empty_trace 1@0", "empty_object 1@1"});
    const FoundFile cut = scan_chunks(R"([{"ph":"X","na)", size);
    CHECK(cut.error == "");
    CHECK(cut.problems == Strings{"cut_event 1@1", "empty_trace 1@0"});
  }
}
