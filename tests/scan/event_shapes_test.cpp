// EventShapes must read the same as EventWalk, and only strict JSON.
#include "scan/event_shapes.h"

#include "base/json_string.h"
#include "scan/event_scanner.h"
#include "scan/plain_scan.h"
#include "scan/text_index.h"
#include "support/random_trace.h"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

// The text that must follow an event for it to be read by its shape.
const std::string kBehind = ",\n" + std::string(100, ' ');

// An event by EventWalk, as EventScanner does it for events of a new shape.
class Walked {
 public:
  explicit Walked(const std::string& text) : text_(text) {
    index_.build(text_);
    EventWalk walk(index_, text_);
    const std::size_t end = walk.walk(0, event_);
    is_event_ = !failed(end) && !walk.is_empty();
    if (!is_event_) return;
    event_.raw = std::string_view(text_).substr(0, end);
    event_.flags.suspect_text = index_.is_suspect(0, end);
    const std::string_view phase = event_.text(Key::ph);
    event_.phase = is_json_string(phase) && phase.size() > 2 ? phase[1] : '\0';
  }
  bool is_event() const { return is_event_; }
  const Event& event() const { return event_; }

 private:
  std::string text_;
  TextIndex index_;
  bool is_event_ = false;
  Event event_;
};

void learn(EventShapes& shapes, const std::string& event) {
  const Walked walked(event + kBehind);
  REQUIRE(walked.is_event());
  shapes.learn(walked.event());
}

// The event at the begin of `text`, if its shape is known; checked against EventWalk.
bool read(EventShapes& shapes, const std::string& text) {
  Event event;
  const char* const behind = shapes.read(text.data(), text.data() + text.size(), event);
  if (behind == nullptr) return false;
  const Walked walked(text);
  REQUIRE(walked.is_event());
  const Event& expected = walked.event();
  CHECK(event.raw == expected.raw);
  CHECK(behind == text.data() + expected.raw.size());
  CHECK(event.phase == expected.phase);
  CHECK(event.present == expected.present);
  for (std::size_t i = 0; i < kKeyCount; ++i)
    CHECK(event.text(static_cast<Key>(i)) == expected.text(static_cast<Key>(i)));
  CHECK(bool{event.flags.strict});
  CHECK(is_strict_json(event.raw));
  CHECK_FALSE(bool{expected.flags.duplicate_key});
  CHECK_FALSE(bool{expected.flags.escaped_key});
  CHECK_FALSE(bool{expected.flags.loose_syntax});
  CHECK_FALSE(bool{expected.flags.suspect_text});
  return true;
}

bool reads_after(const std::string& learned, const std::string& text) {
  EventShapes shapes;
  learn(shapes, learned);
  return read(shapes, text + kBehind);
}

std::vector<std::string> random_events(std::uint64_t seed) {
  const std::string trace =
      random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3), .events = 200});
  std::vector<std::string> events;
  for (const FoundEvent& event : split_list(trace, list_begin(trace))) events.push_back(event.raw);
  return events;
}

}  // namespace

TEST_CASE("event_shapes: knows nothing at first, and an event of the shape that was learnt") {
  const std::string text = R"({"ph": "X", "name": "a", "ts": 1.5, "pid": 3, "args": {"n": [1]}})";
  EventShapes shapes;
  CHECK_FALSE(read(shapes, text + kBehind));
  learn(shapes, text);
  CHECK(read(shapes, text + kBehind));
  CHECK(read(shapes, R"({"ph": "X", "name": "", "ts": 123456789012345.678, "pid": 3,)"
                     R"( "args": {"n": {"k": [true, {}]}}})" +
                         kBehind));
}

TEST_CASE("event_shapes: another key, order, phase, or space is another shape") {
  const std::string text = R"({"ph":"X","name":"a","ts":1})";
  CHECK(reads_after(text, R"({"ph":"X","name":"other","ts":99})"));
  for (const char* other : {R"({"ph":"B","name":"a","ts":1})", R"({"name":"a","ph":"X","ts":1})",
                            R"({"ph":"X","name":"a","ts": 1})", R"({"ph":"X","name":"a","tts":1})",
                            R"({"ph":"X","name":"a","ts":1,"dur":2})", R"({"ph":"X","name":"a"})",
                            R"({"ph":"X","name":"a","ts":"1"})", R"({"ph":"X","name":1,"ts":1})"})
    CHECK_FALSE(reads_after(text, other));
}

TEST_CASE("event_shapes: a value of another kind is another shape, and both stay known") {
  EventShapes shapes;
  const std::vector<std::string> values{
      "1",        "1.5", "-1", "1e5", "true", "null",
      "\"text\"", "[]",  "{}", "0",   "0.5",  "123456789012345678901234567890"};
  for (const std::string& value : values) learn(shapes, R"({"ph":"X","v":)" + value + "}");
  for (const std::string& value : values) {
    CAPTURE(value);
    CHECK(read(shapes, R"({"ph":"X","v":)" + value + "}" + kBehind));
  }
}

TEST_CASE("event_shapes: a number does not take the way of a null that was learnt before") {
  // torch writes a null as the parent of the outermost Python function, and other members after it.
  EventShapes shapes;
  const std::string outermost = R"({"ph":"X","args":{"parent":null,"id":1}})";
  const std::vector<std::string> others{R"({"ph":"X","args":{"parent":1,"module":1,"id":2}})",
                                        R"({"ph":"X","args":{"parent":1.5,"module":1,"id":2}})",
                                        R"({"ph":"X","args":{"parent":"a","module":1,"id":2}})",
                                        R"({"ph":"X","args":{"parent":[1],"module":1,"id":2}})"};
  learn(shapes, outermost);
  for (const std::string& other : others) {
    CAPTURE(other);
    learn(shapes, other);
    CHECK(read(shapes, other + kBehind));
  }
  CHECK(read(shapes, outermost + kBehind));
}

TEST_CASE("event_shapes: leaves to others what is not strict JSON or not plain") {
  const std::string text = R"({"ph":"X","name":"a","ts":1,"v":1.5,"args":{"s":"x"}})";
  const auto with_name = [](const std::string& name) {
    return R"({"ph":"X","name":")" + name + R"(","ts":1,"v":1.5,"args":{"s":"x"}})";
  };
  const auto with_number = [](const std::string& number) {
    return R"({"ph":"X","name":"a","ts":)" + number + R"(,"v":1.5,"args":{"s":"x"}})";
  };
  CHECK(reads_after(text, with_name("a name of more than thirty-two characters, really long")));
  for (const char* name : {"a\\n", "\\\"", "\\u0041", "caf\xc3\xa9", "\xff", "a\tb", "a\nb",
                           "\x7f"
                           "\x80"})
    CHECK_FALSE(reads_after(text, with_name(name)));
  CHECK(reads_after(text, with_number("0")));
  CHECK(reads_after(text, with_number("123456789012345")));
  for (const char* number : {"01", "1.", ".5", "+1", "1e", "0x10", "NaN", "", " ", "1 2", "--1"})
    CHECK_FALSE(reads_after(text, with_number(number)));
}

TEST_CASE("event_shapes: does not learn what it could not give back") {
  for (const char* text :
       {R"({"ph":"X","name":"\n"})", R"({"ph":"X","ts":NaN})", R"({"ph":"X","ts":1,"ts":2})",
        R"({"\u0070h":"X"})", R"({"ph":"X","ts":1,})", R"({"ph":"X","args":{"a":01}})",
        R"({"ph":7,"ts":1})", R"({"ph":"","ts":1})"})
    CHECK_FALSE(reads_after(text, text));
  CHECK(reads_after(R"({"name":"no phase"})", R"({"name":"still none"})"));
}

TEST_CASE("event_shapes: nests as deep as its reader of nested values goes") {
  const auto nested = [](std::size_t depth) {
    return R"({"ph":"X","v":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(reads_after(nested(kMaxSkippedDepth - 1), nested(5)));
  CHECK_FALSE(reads_after(nested(kMaxSkippedDepth), nested(kMaxSkippedDepth)));
  CHECK_FALSE(reads_after(nested(kMaxSkippedDepth - 1), nested(kMaxSkippedDepth + 1)));
}

TEST_CASE("event_shapes: pid and tid are part of the shape, as long as there are few") {
  const auto on_track = [](const std::string& tid) {
    return R"({"ph":"X","ts":1,"pid":7,"tid":)" + tid + R"(,"name":"a"})";
  };
  EventShapes shapes;
  learn(shapes, on_track("1"));
  CHECK_FALSE(read(shapes, on_track("2") + kBehind));
  learn(shapes, on_track("\"Training Loop\""));
  for (int tid = 2; tid < 20; ++tid) learn(shapes, on_track(std::to_string(tid)));
  for (int tid = 1; tid < 40; ++tid) CHECK(read(shapes, on_track(std::to_string(tid)) + kBehind));
  CHECK(read(shapes, on_track("\"Training Loop\"") + kBehind));
  CHECK_FALSE(read(shapes, on_track("\"another\"") + kBehind));
  CHECK_FALSE(read(shapes, on_track("{}") + kBehind));
}

TEST_CASE("event_shapes: wants some text behind the event") {
  const std::string text = R"({"ph":"X","name":"a","ts":1})";
  EventShapes shapes;
  learn(shapes, text);
  for (std::size_t size = 0; size < text.size() + kBehind.size(); ++size) {
    const std::string cut = (text + kBehind).substr(0, size);
    CHECK(read(shapes, cut) == (size >= text.size() + 64 - 1));
  }
}

TEST_CASE("event_shapes: a text between two values may have any length") {
  for (std::size_t size = 1; size < 100; ++size) {
    const std::string key(size, 'k');
    const std::string text = R"({"ph":"X",")" + key + R"(":1,"b)" + key + R"(":"s"})";
    CAPTURE(text);
    CHECK(reads_after(text, text));
    std::string other = text;
    other[10 + size] = 'K';  // the last character of the key
    CHECK_FALSE(reads_after(text, other));
  }
}

TEST_CASE("event_shapes: stops learning when it is full, and forgets when told to") {
  const auto shape = [](int i) { return R"({"ph":"X","k)" + std::to_string(i) + R"(":1})"; };
  EventShapes shapes;
  constexpr int kMany = 4000;
  for (int i = 0; i < kMany; ++i) learn(shapes, shape(i));
  CHECK(read(shapes, shape(0) + kBehind));
  CHECK_FALSE(read(shapes, shape(kMany - 1) + kBehind));
  shapes.make_room();
  CHECK_FALSE(read(shapes, shape(0) + kBehind));
  learn(shapes, shape(kMany - 1));
  shapes.make_room();
  CHECK(read(shapes, shape(kMany - 1) + kBehind));
}

TEST_CASE("event_shapes: an event with too many members is not learnt") {
  const auto members = [](int count) {
    std::string text = R"({"ph":"X")";
    for (int i = 0; i < count; ++i) text += ",\"k\":" + std::to_string(i);
    return text + "}";
  };
  CHECK(reads_after(members(90), members(90)));
  CHECK_FALSE(reads_after(members(200), members(200)));
}

TEST_CASE("event_shapes: reads generated events as the walk does") {
  int known = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    EventShapes shapes;
    const std::vector<std::string> events = random_events(seed);
    for (const std::string& event : events) {
      if (read(shapes, event + kBehind)) {
        ++known;
        continue;
      }
      const Walked walked(event + kBehind);
      if (walked.is_event()) shapes.learn(walked.event());
    }
  }
  CHECK(known > 900);
}

TEST_CASE("event_shapes: is not taken in by damaged events") {
  constexpr std::string_view kDamage = "\"\\{}[],: 0a.-e\xc3\n";
  std::mt19937_64 random(7);
  int known = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    EventShapes shapes;
    const std::vector<std::string> events = random_events(seed);
    for (const std::string& event : events) {
      const Walked walked(event + kBehind);
      if (walked.is_event()) shapes.learn(walked.event());
    }
    for (const std::string& event : events) {
      for (int i = 0; i < 20; ++i) {
        std::string damaged = event;
        damaged[random() % damaged.size()] = kDamage[random() % kDamage.size()];
        if (random() % 3 == 0) damaged.erase(random() % damaged.size(), 1);
        known += read(shapes, damaged + kBehind) ? 1 : 0;  // checks what it gives
      }
    }
  }
  CHECK(known > 500);
}

TEST_CASE("event_shapes: args that are skipped may hold anything between their braces") {
  const std::string text = R"({"ph":"X","args":{"a":1},"ts":1})";
  const auto read_skipping = [&](const std::string& other) {
    EventShapes shapes;
    shapes.set_args(Args::skip);
    learn(shapes, text);
    Event event;
    const std::string padded = other + kBehind;
    const char* const behind = shapes.read(padded.data(), padded.data() + padded.size(), event);
    if (behind == nullptr) return std::string();
    CHECK_FALSE(bool{event.flags.strict});
    CHECK(event.raw == other);
    CHECK(event.text(Key::ts) == "7");
    return std::string(event.text(Key::args));
  };
  for (const char* args :
       {R"({})", R"({"a":1})", R"({"b":[{}],"c":{"d":"\n"}})", R"({what: ever})"})
    CHECK(read_skipping(R"({"ph":"X","args":)" + std::string(args) + R"(,"ts":7})") == args);
  CHECK(read_skipping(R"({"ph":"X","args":{"a":"}"},"ts":7})") == "");
  CHECK(read_skipping(R"({"ph":"X","args":[],"ts":7})") == "");
}

TEST_CASE("event_shapes: forgets when args are to be treated in another way") {
  const std::string text = R"({"ph":"X","args":{"a":1}})";
  EventShapes shapes;
  learn(shapes, text);
  shapes.set_args(Args::read);
  CHECK(read(shapes, text + kBehind));
  shapes.set_args(Args::skip);
  CHECK_FALSE(read(shapes, text + kBehind));
}
