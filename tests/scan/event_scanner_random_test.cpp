// Properties of EventScanner over generated and damaged texts.
#include "base/json_string.h"
#include "scan/event_scanner.h"
#include "scan/plain_scan.h"
#include "support/random_trace.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

struct Scanned {
  std::vector<FoundEvent> events;
  std::vector<std::string> problems;
  ScanEnd end = ScanEnd::text;
  std::size_t end_position = 0;
};

Scanned scan(const std::string& text, Behind behind = Behind::nothing) {
  Scanned result;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems, behind);
  while (const Event* event = scanner.next())
    result.events.push_back({event->offset, std::string(event->raw)});
  result.end = scanner.end();
  result.end_position = scanner.end_position();
  result.problems = to_texts(problems);
  return result;
}

// The list of a generated trace and what follows it.
std::string random_list(std::uint64_t seed, int events) {
  const std::string trace =
      random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3), .events = events});
  return trace.substr(list_begin(trace));
}

constexpr char kJunk[] = "\"\"\\{}[],: \n0a\xc3\x80";  // the '\0' at its end is used, too

void damage(std::string& text, std::mt19937_64& random) {
  const std::size_t at = random() % text.size();
  const char junk = kJunk[random() % sizeof kJunk];
  switch (random() % 4) {
    case 0:
      text[at] = junk;
      break;
    case 1:
      text.insert(at, 1, junk);
      break;
    case 2:
      text.erase(at, 1 + random() % 3);
      break;
    default:
      text.erase(at, random() % 200);
      break;
  }
  if (text.empty()) text = " ";
}

// Checks the properties that every event of every text has.
bool is_sound(const std::string& text, const Event& event) {
  const std::string_view raw = event.raw;
  if (raw.size() < 2 || raw.front() != '{' || raw.back() != '}') return false;
  if (text.compare(event.offset, raw.size(), raw) != 0) return false;
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const Key key = static_cast<Key>(i);
    const FieldRange range = event.range(key);
    if (!event.has(key)) continue;
    if (range.begin < 1 || range.begin >= range.end || range.end >= raw.size()) return false;
    const std::string_view value = event.text(key);
    if (value.front() == '"' && (value.size() < 2 || value.back() != '"')) return false;
    if (value.front() == '{' && value.back() != '}') return false;
    if (value.front() == '[' && value.back() != ']') return false;
  }
  return true;
}

// The results of a scanner for a text, as words.
struct Read {
  std::vector<std::string> events;
  std::string end;
  std::size_t strict = 0;
};

Read read_all(EventScanner& scanner, const std::string& text, Behind behind, Args args) {
  Read read;
  ProblemCounts problems;
  scanner.start(text, 0, Position::first, problems, behind, args);
  while (const Event* event = scanner.next()) {
    REQUIRE(is_sound(text, *event));
    std::string words = std::to_string(event->offset) + event->phase + std::string(event->raw);
    for (std::size_t i = 0; i < kKeyCount; ++i)
      words += '|' + std::string(event->text(static_cast<Key>(i)));
    read.events.push_back(words);
    if (event->flags.strict) {
      ++read.strict;
      REQUIRE(is_strict_json(event->raw));
    }
  }
  read.end = std::to_string(static_cast<int>(scanner.end())) + "@" +
             std::to_string(scanner.end_position()) + " " +
             std::to_string(static_cast<int>(scanner.next_position()));
  for (const std::string& problem : to_texts(problems)) read.end += " " + problem;
  return read;
}

}  // namespace

TEST_CASE("event_scanner: finds the events of generated traces, and no problem") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::string text = random_list(seed, 300);
    const Scanned scanned = scan(text);
    REQUIRE(scanned.events == split_list(text, 0));
    REQUIRE(scanned.problems.empty());
    REQUIRE(scanned.end == ScanEnd::array);
    REQUIRE(text[scanned.end_position - 1] == ']');
  }
}

TEST_CASE("event_scanner: finds the whole events of a trace that is cut, at every byte" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::string list = random_list(seed, 30);
    const std::vector<FoundEvent> all = split_list(list, 0);
    const std::size_t list_end = scan(list).end_position;
    std::size_t whole = 0;
    for (std::size_t size = 0; size < list_end; ++size) {
      while (whole < all.size() && all[whole].offset + all[whole].raw.size() <= size) ++whole;
      const bool inside = whole < all.size() && all[whole].offset < size;
      for (const Behind behind : {Behind::nothing, Behind::more_text}) {
        const Scanned scanned = scan(list.substr(0, size), behind);
        REQUIRE(scanned.events.size() == whole);
        REQUIRE(std::equal(scanned.events.begin(), scanned.events.end(), all.begin()));
        REQUIRE(scanned.problems.empty());
        REQUIRE(scanned.end == (inside ? ScanEnd::cut : ScanEnd::text));
        REQUIRE(scanned.end_position == (inside ? all[whole].offset : size));
      }
    }
  }
}

TEST_CASE("event_scanner: goes on after a piece where the next one begins" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::string list = random_list(seed, 30);
    const std::vector<FoundEvent> all = split_list(list, 0);
    for (std::size_t size = 0; size < list.size(); ++size) {
      const std::string front = list.substr(0, size);
      ProblemCounts problems;
      EventScanner scanner;
      std::size_t events = 0;
      scanner.start(front, 0, Position::first, problems, Behind::more_text);
      while (scanner.next() != nullptr) ++events;
      if (scanner.end() == ScanEnd::array) break;
      const std::size_t at = scanner.end_position();
      const std::string back = list.substr(at);
      scanner.start(back, at, scanner.next_position(), problems);
      while (const Event* event = scanner.next()) {
        REQUIRE(event->offset == all[events].offset);
        ++events;
      }
      REQUIRE(events == all.size());
      REQUIRE(problems.empty());
    }
  }
}

TEST_CASE("event_scanner: an event may lie anywhere across the border of a window" *
          doctest::test_suite("long")) {
  std::string text = random_list(4, 1200);
  REQUIRE(text.size() > 150'000);
  for (std::size_t shift = 0; shift < 80; ++shift) {
    text.insert(0, 1 + shift % 5, ' ');
    const Scanned scanned = scan(text);
    REQUIRE(scanned.problems.empty());
    REQUIRE(scanned.events == split_list(text, 0));
  }
}

TEST_CASE("event_scanner: never stumbles over damaged text" * doctest::test_suite("long")) {
  std::mt19937_64 random(5);
  std::size_t kept = 0;
  for (std::uint64_t i = 0; i < 1'500; ++i) {
    std::string text = random_list(i % 30, 20);
    for (std::size_t times = 1 + random() % 5; times > 0; --times) damage(text, random);
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems,
                  i % 2 == 0 ? Behind::nothing : Behind::more_text);
    std::size_t last_end = 0;
    while (const Event* event = scanner.next()) {
      REQUIRE(is_sound(text, *event));
      REQUIRE(event->offset >= last_end);
      last_end = event->offset + event->raw.size();
      ++kept;
    }
    REQUIRE(scanner.end_position() <= text.size());
    REQUIRE(scanner.end_position() >= last_end);
  }
  CHECK(kept > 15'000);
}

TEST_CASE("event_scanner: known shapes change nothing, whatever the damage" *
          doctest::test_suite("long")) {
  std::mt19937_64 random(9);
  EventScanner walking;
  walking.ignore_shapes();
  EventScanner reading;
  EventScanner skipping;
  std::size_t strict = 0;
  for (std::uint64_t i = 0; i < tries(2'400); ++i) {
    const std::string whole = random_list(i % 30, 40);
    std::string text = whole;
    for (std::size_t times = random() % 4; times > 0; --times) damage(text, random);
    const Behind behind = i % 2 == 0 ? Behind::nothing : Behind::more_text;
    CAPTURE(text);
    const Read expected = read_all(walking, text, behind, Args::read);
    read_all(reading, whole, behind, Args::read);  // learns its shapes
    const Read read = read_all(reading, text, behind, Args::read);
    REQUIRE(read.events == expected.events);
    REQUIRE(read.end == expected.end);
    strict += read.strict;
    read_all(skipping, whole, behind, Args::skip);
    const Read skipped = read_all(skipping, text, behind, Args::skip);
    REQUIRE(skipped.events == expected.events);
    REQUIRE(skipped.end == expected.end);
    REQUIRE(skipped.strict == 0);
    REQUIRE(expected.strict == 0);
  }
  CHECK(strict > tries(2'400) * 20 / 3);
}

TEST_CASE("event_scanner: never stumbles over junk") {
  std::mt19937_64 random(6);
  static constexpr std::string_view kPieces[] = {"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "\\",
                                                 " ",
                                                 "\n",
                                                 "\"ph\"",
                                                 "{\"ph\":\"X\"}",
                                                 "},{\"name\":",
                                                 "1",
                                                 "null",
                                                 "{\"ts\":",
                                                 "\"a\\\"b\"",
                                                 "}, {",
                                                 "\"args\":{",
                                                 "\\u00"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t pieces = random() % 40; pieces > 0; --pieces)
      text += kPieces[random() % std::size(kPieces)];
    ProblemCounts problems;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, problems);
    std::size_t events = 0;
    while (const Event* event = scanner.next()) {
      ++events;
      REQUIRE_MESSAGE(is_sound(text, *event), text);
    }
    REQUIRE(events <= text.size());
    REQUIRE(scanner.end_position() <= text.size());
  }
}
