#include "scan/event_scanner.h"
#include "scan/plain_scan.h"
#include "support/random_trace.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace traceloom;

namespace {

constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

TEST_CASE("event_start: guesses only behind a closing brace and a comma") {
  CHECK(find_event_start(R"(xx}, {"ph":1})", 0) == 5);
  CHECK(find_event_start(R"(xx}, {"other":1})", 0) == kNone);
  CHECK(find_event_start(R"(xx} {"ph":1})", 0) == kNone);
  CHECK(find_event_start(R"(xx, {"ph":1})", 0) == kNone);
  CHECK(find_event_start(R"(},,{"ph":1})", 0) == kNone);
  CHECK(find_event_start(R"({ "ts":1})", 0) == 0);
  CHECK(find_event_start(R"(x{"ts":1})", 0) == kNone);
  CHECK(find_event_start(R"(x{"ts":1})", 1) == 1);
  CHECK(find_event_start("", 0) == kNone);
  CHECK(find_event_start("{", 0) == kNone);
  CHECK(find_event_start("{", 5) == kNone);
}

TEST_CASE("event_start: takes any white space") {
  const std::string text = "}\r\n\t ,\n\n  {\r\n\t\t\"name\" : 1}";
  CHECK(find_event_start(text, 0) == 10);
  CHECK(find_last_event_start(text, 0) == 10);
}

TEST_CASE("event_start: knows the keys that events begin with, whole") {
  for (const char* key :
       {"ph", "name", "cat", "pid", "tid", "ts", "args", "id", "dur", "s", "tts"}) {
    CAPTURE(key);
    const std::string text = "},{\"" + std::string(key) + "\":1}";
    CHECK(find_event_start(text, 0) == 2);
    CHECK(find_event_start("},{\"" + std::string(key) + "x\":1}", 0) == kNone);
    // If the text is cut inside the key, no start can be recognised.
    for (std::size_t size = 0; size < 5 + std::string_view(key).size(); ++size)
      CHECK(find_event_start(text.substr(0, size), 0) == kNone);
  }
}

TEST_CASE("event_start: is not led astray by strings") {
  CHECK(find_event_start(R"("}, {\"ph\": 1}")", 0) == kNone);
  CHECK(find_event_start(R"("},{", "ph")", 0) == kNone);
}

TEST_CASE("event_start: finds the last place") {
  const std::string text = R"({"ph":1},{"ph":2} , {"name":3},{"zz":4})";
  CHECK(find_last_event_start(text, 0) == 20);
  CHECK(find_last_event_start(text, 21) == kNone);
  CHECK(find_last_event_start(text.substr(0, 20), 0) == 9);
  CHECK(find_last_event_start(text.substr(0, 9), 0) == kNone);
  CHECK(find_last_event_start("", 0) == kNone);
}

TEST_CASE("event_start: needs the brace and the comma before it in the part it may look at") {
  const std::string text = R"({"ph":1}, {"ph":2})";
  CHECK(find_last_event_start(text, 7) == 10);
  CHECK(find_last_event_start(text, 8) == kNone);
  CHECK(find_event_start(text, 7) == 10);
  CHECK(find_event_start(text, 8) == kNone);
  CHECK(find_event_start(text, 10) == 10);
}

TEST_CASE("event_start: every guess in generated traces is right, from every place") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::string text =
        random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3), .events = 60});
    const std::size_t begin = list_begin(text);
    std::set<std::size_t> starts;
    for (const FoundEvent& event : split_list(text, begin)) starts.insert(event.offset);
    for (std::size_t from = begin; from < text.size(); ++from) {
      const std::size_t guess = find_event_start(text, from);
      // Only a cut brace may hide an event after its "}".
      auto next = starts.lower_bound(from);
      if (guess == kNone) {
        REQUIRE((next == starts.end() || std::next(next) == starts.end()));
      } else if (guess == from && !starts.contains(from)) {
        // One brace is enough at `from` itself; nested objects may begin like events.
        REQUIRE(text[from] == '{');
      } else {
        REQUIRE(starts.contains(guess));
        REQUIRE((guess == *next || guess == *std::next(next)));
      }
    }
  }
}
