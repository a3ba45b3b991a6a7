#include "event/event_timing.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

// An event with a ts and a dur as texts (empty: absent), at byte 4711.
struct SampleEvent {
  SampleEvent(char phase, std::string_view ts, std::string_view dur = "",
              std::string_view unclosed = "")
      : text(ts) {
    text.append(dur).append(unclosed);
    event.raw = text;
    event.offset = 4711;
    event.phase = phase;
    if (!ts.empty()) set(Key::ts, 0, ts.size());
    const std::size_t dur_end = ts.size() + dur.size();
    if (!dur.empty()) set(Key::dur, ts.size(), dur_end);
    if (!unclosed.empty()) set(Key::unclosed, dur_end, text.size());
  }
  void set(Key key, std::size_t begin, std::size_t end) {
    event.present = static_cast<std::uint16_t>(event.present | Event::bit(key));
    event.fields[static_cast<std::size_t>(key)] = {static_cast<std::uint32_t>(begin),
                                                   static_cast<std::uint32_t>(end)};
  }

  std::string text;
  Event event;
};

struct Timed {
  EventTiming timing;
  ProblemCounts problems;
};

Timed time(char phase, std::string_view ts, std::string_view dur = "") {
  const SampleEvent sample(phase, ts, dur);
  Timed result;
  result.timing = time_event(sample.event, result.problems);
  return result;
}

using Kinds = std::vector<Problem>;

// Checks that `kind`, counted once at the event, is the only problem.
void check_problem(const Timed& timed, Problem kind) {
  CHECK(timed.problems.kinds() == Kinds{kind});
  CHECK(timed.problems.count(kind) == 1);
  CHECK(timed.problems.first_offset(kind) == 4711);
}

}  // namespace

TEST_CASE("event_timing: times a complete event") {
  const Timed timed = time('X', "1712195495406752.812", "3.25");
  CHECK(timed.timing.usable);
  CHECK(timed.timing.timed);
  CHECK(timed.timing.start_ns == 1'712'195'495'406'752'812);
  CHECK(timed.timing.duration_ns == 3'250);
  CHECK_FALSE(timed.timing.rewrite);
  CHECK(timed.timing.sub_microsecond);
  CHECK(timed.problems.empty());
}

TEST_CASE("event_timing: an event without a phase cannot be used") {
  const Timed timed = time(0, "1", "2");
  CHECK_FALSE(timed.timing.usable);
  CHECK_FALSE(timed.timing.timed);
  check_problem(timed, Problem::no_phase);
}

TEST_CASE("event_timing: metadata needs no ts, and a broken one does not matter") {
  for (const char* ts : {"", "0", "abc", "null", "1.0001"}) {
    const Timed timed = time('M', ts);
    CHECK(timed.timing.usable);
    CHECK_FALSE(timed.timing.timed);
    CHECK_FALSE(timed.timing.rewrite);
    CHECK(timed.timing.start_ns == 0);
    CHECK(timed.problems.empty());
  }
}

TEST_CASE("event_timing: an event without a usable ts is dropped, for that alone") {
  for (const char* ts : {"", "null", "NaN", "\"soon\"", "1e300", "true", "{}"}) {
    CAPTURE(ts);
    for (const char phase : {'X', 'i', '?'}) {
      const Timed timed = time(phase, ts, "-1");
      CHECK_FALSE(timed.timing.usable);
      CHECK_FALSE(timed.timing.timed);
      check_problem(timed, Problem::bad_timestamp);
    }
  }
}

TEST_CASE("event_timing: an unknown phase is used and counted") {
  const Timed timed = time('?', "5");
  CHECK(timed.timing.usable);
  CHECK(timed.timing.timed);
  CHECK(timed.timing.start_ns == 5'000);
  check_problem(timed, Problem::unknown_phase);
}

TEST_CASE("event_timing: knows the phases of the format") {
  for (const char phase : std::string_view("BEXiIRCbneSTpFstfNODPMVvc()="))
    CHECK(is_known_phase(phase));
  for (const char phase : std::string_view("\0?xQ AZm1", 9)) CHECK_FALSE(is_known_phase(phase));
}

TEST_CASE("event_timing: counts what is wrong with a dur and takes 0") {
  struct Case {
    const char* dur;
    Problem problem;
  };
  for (const Case& c :
       {Case{"", Problem::missing_duration}, Case{"null", Problem::missing_duration},
        Case{"NaN", Problem::bad_duration}, Case{"\"long\"", Problem::bad_duration},
        Case{"\"\"", Problem::bad_duration}, Case{"0x10", Problem::bad_duration},
        Case{"-5", Problem::negative_duration}, Case{"-1e300", Problem::negative_duration},
        Case{"-0.0000001", Problem::negative_duration},
        Case{"0.-66", Problem::negative_duration}}) {
    CAPTURE(c.dur);
    const Timed timed = time('X', "7", c.dur);
    CHECK(timed.timing.usable);
    CHECK(timed.timing.rewrite);
    CHECK(timed.timing.start_ns == 7'000);
    CHECK(timed.timing.duration_ns == 0);
    CHECK_FALSE(timed.timing.sub_microsecond);
    CHECK(timed.timing.slice_end ==
          (c.problem == Problem::missing_duration ? SliceEnd::missing : SliceEnd::known));
    check_problem(timed, c.problem);
  }
}

TEST_CASE(
    "event_timing: a dur that ends beyond the range of time is of an event that never ended") {
  struct Case {
    const char* ts;
    const char* dur;
  };
  for (const Case& c :
       {Case{"9223372036854775.807", "0.001"}, Case{"0", "4611686018427387.905"},
        Case{"-0.0006", "9223372036854775.807"}, Case{"1", "9223372036854775807"},
        Case{"1", "1e300"}, Case{"1", "\"1e300\""}, Case{"7", "4611686018427387.9051"},
        // torch writes 2^63 ns minus the start, here 1759000000 s counted from a base.
        Case{"5000.125", "7464372036849775.683"}}) {
    CAPTURE(c.dur);
    const Timed timed = time('X', c.ts, c.dur);
    CHECK(timed.timing.usable);
    CHECK(timed.timing.rewrite);
    CHECK(timed.timing.duration_ns == 0);
    CHECK(timed.timing.slice_end == SliceEnd::never);
    CHECK(timed.timing.start_ns == time('i', c.ts).timing.start_ns);
    check_problem(timed, Problem::never_ended);
  }
  for (const Case& c : {Case{"9223372036854775.806", "0.001"}, Case{"0", "4611686018427387.904"},
                        Case{"-7", "4611686018427387.9040"}}) {
    CAPTURE(c.dur);
    const Timed timed = time('X', c.ts, c.dur);
    CHECK(timed.problems.empty());
    CHECK(timed.timing.slice_end == SliceEnd::known);
  }
  CHECK(time('X', "0", "4611686018427387.904").timing.duration_ns == kLongestDurationNs);
}

TEST_CASE("event_timing: statistics know no duration of what never ended, merged or not") {
  const auto known = [](const char* dur, std::string_view unclosed) {
    ProblemCounts problems;
    const SampleEvent sample('X', "1", dur, unclosed);
    const EventTiming timing = time_event(sample.event, problems);
    const auto duration_ns = known_duration(sample.event, timing, problems);
    CHECK(is_unclosed(sample.event, timing) == !duration_ns.has_value());
    std::string words = duration_ns ? std::to_string(*duration_ns) : "none";
    for (const Problem kind : problems.kinds())
      words += fmt::format(" {} {}", describe(kind).name, problems.count(kind));
    return words;
  };
  CHECK(known("2.5", "") == "2500");
  CHECK(known("1e300", "") == "none never_ended 1");
  CHECK(known("2.5", R"("never ended")") == "none never_ended 1");
  CHECK(known("2.5", "true") == "none begin_without_end 1");
  CHECK(known("2.5", R"("no dur")") == "0 missing_duration 1");
}

TEST_CASE("event_timing: the dur of other phases means nothing") {
  for (const char phase : {'B', 'E', 'i', 'C', 's', 'b'}) {
    const Timed timed = time(phase, "7", "\"long\"");
    CHECK(timed.timing.usable);
    CHECK(timed.timing.duration_ns == 0);
    CHECK_FALSE(timed.timing.rewrite);
    CHECK(timed.problems.empty());
  }
}

TEST_CASE("event_timing: asks for another text where the number is not written plainly") {
  for (const char* plain :
       {"0", "12", "12.5", "12.345", "1712195495406752.812", "0.000", "12.10"}) {
    CAPTURE(plain);
    CHECK_FALSE(time('i', plain).timing.rewrite);
    CHECK_FALSE(time('X', "1", plain).timing.rewrite);
  }
  for (const char* other : {"\"12\"", "1e3", "1E3", "12.3456", "12.3450", "1.2e1"}) {
    CAPTURE(other);
    CHECK(time('i', other).timing.rewrite);
    CHECK(time('X', "1", other).timing.rewrite);
  }
  CHECK_FALSE(time('i', "-12.5").timing.rewrite);
  CHECK(time('i', "-12.3456").timing.rewrite);
  CHECK(time('i', "-12.-345").timing.rewrite);
  CHECK(time('i', "0.-66").timing.rewrite);
}

TEST_CASE("event_timing: says whether ts or dur has parts of a microsecond") {
  CHECK_FALSE(time('X', "5", "7").timing.sub_microsecond);
  CHECK_FALSE(time('X', "5.0", "7.000").timing.sub_microsecond);
  CHECK_FALSE(time('i', "-5").timing.sub_microsecond);
  CHECK_FALSE(time('i', "1.5e1").timing.sub_microsecond);
  CHECK(time('i', "5.001").timing.sub_microsecond);
  CHECK(time('i', "-0.5").timing.sub_microsecond);
  CHECK(time('X', "5", "7.1").timing.sub_microsecond);
  CHECK_FALSE(time('i', "4.9999999").timing.sub_microsecond);
}

TEST_CASE("event_timing: a duration is what rounding leaves between start and end") {
  const Timed up = time('X', "0.0004", "0.0004");  // 0.4 and 0.8 ns
  CHECK(up.timing.start_ns == 0);
  CHECK(up.timing.duration_ns == 1);
  const Timed none = time('X', "0.0006", "0.0006");  // 0.6 and 1.2 ns
  CHECK(none.timing.start_ns == 1);
  CHECK(none.timing.duration_ns == 0);
  CHECK(none.problems.empty());
}
