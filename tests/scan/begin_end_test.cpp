#include "scan/begin_end.h"

#include "event/event_timing.h"
#include "oracle/oracle.h"
#include "scan/event_scanner.h"
#include "support/random_trace.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

struct Paired {
  std::vector<std::string> pairs;  // "name cat pid/tid start+duration"
  std::vector<std::string> spans;  // "name start+duration", without a name as the oracle writes it
  ProblemCounts problems;
};

// Feeds the events of a list to a pairer, in batches of `batch_events`.
Paired pair_up(const std::string& list, std::size_t batch_events = 1000,
               std::size_t reorder_records = BeginEndPairer::kReorderRecords,
               bool matches_names = false) {
  Paired result;
  BeginEndPairer* self = nullptr;
  const auto text_of = [&](std::uint32_t number) {
    return number == kNoText ? std::string("-") : std::string(self->text(number));
  };
  BeginEndPairer pairer(
      {.pair =
           [&](const BeginEndPair& pair) {
             result.spans.push_back(fmt::format("{} {}+{}",
                                                pair.name == kNoText ? "" : text_of(pair.name),
                                                pair.start_ns, pair.duration_ns()));
             result.pairs.push_back(fmt::format(
                 "{} {} {}/{} {}+{}", text_of(pair.name), text_of(pair.category),
                 self->pid(pair.track), self->tid(pair.track), pair.start_ns, pair.duration_ns()));
           },
       .stray_end = {},
       .open_begin = {}},
      reorder_records);
  self = &pairer;
  if (matches_names) pairer.match_names();
  ProblemCounts ignored;
  BeginEndBatch batch;
  EventScanner scanner;
  std::size_t in_batch = 0;
  const std::size_t list_begin = list.find('[') + 1;
  const std::string text = list.substr(list_begin);
  scanner.start(text, list_begin, Position::first, ignored);
  while (const Event* event = scanner.next()) {
    const EventTiming timing = time_event(*event, ignored);
    if (!timing.usable || (event->phase != 'B' && event->phase != 'E')) continue;
    batch.add(*event, timing.start_ns);
    if (++in_batch % batch_events != 0) continue;
    pairer.take(batch);
    batch.clear();
  }
  pairer.take(batch);
  pairer.finish();
  result.problems = pairer.problems();
  return result;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("begin_end: an E closes the innermost open B of its name") {
  const Paired paired = pair_up(
      TraceText().cat("c").b("a", 1).b("b", 2).b("a", 3).e("b", 4).e("a", 5).e("a", 9).array());
  CHECK(paired.pairs == Strings{"b c 1/1 2000+2000", "a c 1/1 3000+2000", "a c 1/1 1000+8000"});
  CHECK(paired.problems.count(Problem::end_without_begin) == 0);
  CHECK(paired.problems.empty());
}

TEST_CASE("begin_end: an E without a name closes the innermost open B") {
  const Paired paired =
      pair_up(TraceText().b("a", 1).b("b", 2).b("c", 3).e("b", 4).e(5).e(6).array());
  CHECK(paired.pairs == Strings{"b - 1/1 2000+2000", "c - 1/1 3000+2000", "a - 1/1 1000+5000"});
  CHECK(paired.problems.empty());
}

TEST_CASE("begin_end: an E of a name that is not open closes the innermost open B") {
  const Paired paired =
      pair_up(TraceText().b("a", 1).b("b", 2).e("c", 4).e("", 5).e("a", 6).array());
  CHECK(paired.pairs == Strings{"b - 1/1 2000+2000", "a - 1/1 1000+4000"});
  CHECK(paired.problems.count(Problem::end_without_begin) == 1);
}

TEST_CASE("begin_end: with names that match orphans are counted and leave the open B's alone") {
  const std::string text = TraceText().e("x", 1).b("a", 2).e("y", 3).e("a", 4).e("a", 5).array();
  const Paired paired = pair_up(text, 1, BeginEndPairer::kReorderRecords, true);
  CHECK(paired.pairs == Strings{"a - 1/1 2000+2000"});
  CHECK(paired.problems.count(Problem::end_without_begin) == 3);
  CHECK(paired.problems.first_offset(Problem::end_without_begin) == text.find("{\"name\": \"x\""));
}

TEST_CASE("begin_end: a B that is never closed is counted at its offset") {
  const std::string text = TraceText().b("a", 1).e("a", 2).b("open", 3).b("open", 4).array();
  const Paired paired = pair_up(text);
  CHECK(paired.pairs.size() == 1);
  CHECK(paired.problems.count(Problem::begin_without_end) == 2);
  CHECK(paired.problems.first_offset(Problem::begin_without_end) ==
        text.find("{\"name\": \"open\""));
}

TEST_CASE("begin_end: tracks are apart, and spellings of one track are not") {
  const Paired paired = pair_up(TraceText()
                                    .tid("7")
                                    .b("a", 1)
                                    .tid("8")
                                    .b("a", 2)
                                    .tid("\"7\"")
                                    .e("a", 3)
                                    .pid("2")
                                    .tid("7.0")
                                    .e("a", 4)
                                    .pid("1")
                                    .tid("\"8\"")
                                    .e("a", 5)
                                    .array());
  CHECK(paired.pairs == Strings{"a - 1/7 1000+2000", "a - 1/8 2000+3000"});
  CHECK(paired.problems.count(Problem::end_without_begin) == 1);
}

TEST_CASE("begin_end: names are compared as characters, not as they are written") {
  const Paired paired = pair_up(TraceText().b("caf\\u00e9", 1).e("café", 2).array());
  CHECK(paired.pairs == Strings{"café - 1/1 1000+1000"});
}

TEST_CASE("begin_end: a name that is no string is none") {
  const Paired paired =
      pair_up(R"([{"ph":"B","name":5,"ts":1,"cat":7},{"ph":"E","name":null,"ts":2}])");
  CHECK(paired.pairs == Strings{"- - / 1000+1000"});
  CHECK(paired.problems.empty());
}

TEST_CASE("begin_end: an empty name is a name") {
  const Paired paired = pair_up(TraceText().b("", 1).b("a", 2).e("", 3).e("a", 4).array());
  CHECK(paired.pairs == Strings{" - 1/1 1000+2000", "a - 1/1 2000+2000"});
}

TEST_CASE("begin_end: file order breaks ties of time") {
  const Paired paired =
      pair_up(TraceText().b("a", 1).e("a", 1).b("a", 1).e("a", 1).e("b", 2).b("b", 2).array());
  CHECK(paired.pairs == Strings{"a - 1/1 1000+0", "a - 1/1 1000+0"});
  CHECK(paired.problems.count(Problem::end_without_begin) == 1);
  CHECK(paired.problems.count(Problem::begin_without_end) == 1);
}

TEST_CASE("begin_end: events out of time order are sorted, over batches too") {
  const std::string text = TraceText().e("a", 50).b("a", 10).e("b", 9).b("b", 8).array();
  for (const std::size_t batch_events : {1, 2, 3, 100}) {
    CAPTURE(batch_events);
    const Paired paired = pair_up(text, batch_events);
    CHECK(paired.pairs == Strings{"b - 1/1 8000+1000", "a - 1/1 10000+40000"});
    CHECK(paired.problems.empty());
  }
}

TEST_CASE("begin_end: a full reorder buffer releases its older half, later events count as late") {
  TraceText trace;
  for (int i = 0; i < 10; ++i) trace.b("s", i * 10 + 10).e("s", i * 10 + 15);
  trace.b("late", 12).e("late", 14).b("s", 200).e("s", 201);
  const Paired paired = pair_up(trace.array(), 1, 8);
  CHECK(paired.pairs.size() == 12);
  CHECK(std::count(paired.pairs.begin(), paired.pairs.end(), "late - 1/1 12000+2000") == 1);
  CHECK(paired.problems.count(Problem::out_of_order) == 2);
  CHECK(paired.problems.count(Problem::end_without_begin) == 0);
}

TEST_CASE("begin_end: a late E never closes a B that begins after it") {
  TraceText trace;
  trace.b("a", 100).b("f", 101).e("f", 102).b("f", 103).e("a", 50).e("a", 110).e("f", 111);
  const Paired paired = pair_up(trace.array(), 1, 4);
  CHECK(paired.pairs ==
        Strings{"f - 1/1 101000+1000", "a - 1/1 100000+10000", "f - 1/1 103000+8000"});
  CHECK(paired.problems.count(Problem::out_of_order) == 1);
  CHECK(paired.problems.count(Problem::end_without_begin) == 1);
}

// Half a million at night; what grows with their square takes minutes of a quarter of them, too.
TEST_CASE("begin_end: many open B's and as many E's of other names take linear time" *
          doctest::test_suite("long")) {
  const auto count = static_cast<int>(tries(500'000));
  BeginEndPairer pairer;
  pairer.match_names();
  BeginEndBatch batch;
  const auto add = [&](const std::string& text, std::int64_t ns) {
    ProblemCounts ignored;
    EventScanner scanner;
    scanner.start(text, static_cast<std::uint64_t>(ns), Position::first, ignored);
    batch.add(*scanner.next(), ns);
  };
  for (int i = 0; i < count; ++i) add(R"({"ph":"B","name":"open","pid":1,"tid":1})", i);
  for (int i = 0; i < count; ++i) add(R"({"ph":"E","name":"other","pid":1,"tid":1})", count + i);
  pairer.take(batch);
  pairer.finish();
  CHECK(pairer.problems().count(Problem::end_without_begin) == tries(500'000));
  CHECK(pairer.problems().count(Problem::begin_without_end) == tries(500'000));
}

TEST_CASE("begin_end: order counts within a track only") {
  TraceText trace;
  for (int i = 0; i < 20; ++i) trace.b("s", 1000 + i * 10).e("s", 1005 + i * 10);
  std::string text = trace.array();
  const std::size_t end = text.rfind(']');
  for (int i = 0; i < 20; ++i)
    text.insert(end, fmt::format(R"(,{{"ph":"{}","name":"t","ts":{},"pid":1,"tid":2}})",
                                 i % 2 == 0 ? "E" : "B", 100 - i));
  const Paired paired = pair_up(text, 1, 8);
  CHECK(paired.problems.empty());
  CHECK(paired.pairs.size() == 30);
}

TEST_CASE("begin_end: knows events by their payloads, and what stays open from outside in") {
  std::vector<std::string> said;
  BeginEndPairer pairer(
      {.pair =
           [&](const BeginEndPair& pair) {
             said.push_back(fmt::format("{}-{} in {}", pair.begin_payload, pair.end_payload,
                                        pair.same_start_outer == kNoPayload
                                            ? "nothing"
                                            : std::to_string(pair.same_start_outer)));
           },
       .stray_end =
           [&](std::uint32_t payload) { said.push_back(fmt::format("stray {}", payload)); },
       .open_begin =
           [&](const OpenBegin& open) {
             said.push_back(fmt::format("open {} at {}", open.payload, open.start_ns));
             if (open.is_in_closed_slice())
               said.back() += fmt::format(" in one until {}", open.around_end_ns);
           }});
  pairer.match_names();
  BeginEndBatch batch;
  const auto add = [&](char phase, const std::string& name, std::int64_t ns) {
    const std::string text =
        fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1}})", phase, name);
    ProblemCounts ignored;
    EventScanner scanner;
    scanner.start(text, 0, Position::first, ignored);
    batch.add(*scanner.next(), ns);
  };
  add('B', "a", 1);  // 10
  add('B', "b", 5);  // 11
  add('B', "c", 5);  // 12
  add('E', "x", 6);  // 13
  add('E', "c", 7);  // 14
  add('B', "d", 7);  // 15
  add('E', "d", 7);  // 16
  add('B', "e", 9);  // 17
  pairer.take(batch, {10, 11, 12, 13, 14, 15, 16, 17});
  pairer.finish();
  CHECK(said == Strings{"stray 13", "12-14 in 11", "15-16 in nothing", "open 10 at 1",
                        "open 11 at 5", "open 17 at 9"});
}

TEST_CASE("begin_end: what stays open is in the first slice around it that ends") {
  const auto open_begins = [](const TraceText& trace) {
    std::vector<std::string> said;
    const std::string text = trace.array();
    BeginEndPairer pairer({.pair = {}, .stray_end = {}, .open_begin = [&](const OpenBegin& open) {
                             said.push_back(fmt::format("{}", open.start_ns / 1000));
                             if (open.is_in_closed_slice())
                               said.back() += fmt::format("-{}", open.around_end_ns / 1000);
                           }});
    BeginEndBatch batch;
    ProblemCounts ignored;
    EventScanner scanner;
    scanner.start(std::string_view(text).substr(1), 1, Position::first, ignored);
    while (const Event* event = scanner.next()) {
      const EventTiming timing = time_event(*event, ignored);
      if (event->phase == 'X')
        batch.add_slice(*event, timing.start_ns, timing.start_ns + timing.duration_ns);
      else
        batch.add(*event, timing.start_ns);
    }
    pairer.take(batch);
    pairer.finish();
    return said;
  };
  CHECK(open_begins(TraceText().b("a", 2).b("b", 3).e("a", 4).b("c", 5)) == Strings{"3-4", "5"});
  // The innermost of those around it; of crossing ones the first to end.
  CHECK(open_begins(TraceText().b("a", 1).b("b", 2).b("c", 3).e("b", 5).e("a", 9)) ==
        Strings{"3-5"});
  CHECK(open_begins(TraceText().b("a", 1).b("b", 2).b("c", 3).e("a", 5).e("b", 9)) ==
        Strings{"3-5"});
  // One that is closed itself is in none, and so is what it was the last to hold.
  CHECK(open_begins(TraceText().b("a", 1).b("b", 2).e("a", 5).b("c", 6).e("b", 9).b("d", 9)) ==
        Strings{"6-9", "9"});
  CHECK(open_begins(TraceText().b("a", 1).b("b", 2).e("a", 2).tid("2").b("c", 2)) ==
        Strings{"2-2", "2"});
  // An X is one of them, wherever it stands; not what begins with the B, has ended, or is
  // elsewhere.
  CHECK(open_begins(TraceText().x("a", 1, 9).b("b", 2)) == Strings{"2-10"});
  CHECK(open_begins(TraceText().b("b", 2).x("c", 4, 1).x("a", 1, 9)) == Strings{"2-10"});
  CHECK(open_begins(TraceText().x("a", 2, 9).x("c", 1, 1).b("b", 2)) == Strings{"2"});
  CHECK(open_begins(TraceText().x("a", 1, 9).tid("2").b("b", 2)) == Strings{"2"});
  CHECK(open_begins(TraceText().x("a", 0, 9).b("c", 1).b("b", 2).e("c", 5)) == Strings{"2-5"});
  CHECK(open_begins(TraceText().x("a", 2, 2).b("c", 1).b("b", 3).e("c", 5)) == Strings{"3-4"});
}

TEST_CASE("begin_end: X around open begins are found in any order, and passed ones forgotten") {
  for (const std::size_t window : {1, 3, 50, 100'000}) {
    CAPTURE(window);
    std::vector<OpenBegin> open;
    BeginEndPairer pairer({.pair = {},
                           .stray_end = {},
                           .open_begin = [&](const OpenBegin& begin) { open.push_back(begin); }},
                          window);
    ProblemCounts ignored;
    const auto take = [&](char phase, std::int64_t start_ns, std::int64_t end_ns) {
      const std::string text = fmt::format(R"({{"ph":"{}","name":"a","pid":1,"tid":1}})", phase);
      EventScanner scanner;
      scanner.start(text, 0, Position::first, ignored);
      BeginEndBatch batch;
      if (phase == 'X')
        batch.add_slice(*scanner.next(), start_ns, end_ns);
      else
        batch.add(*scanner.next(), start_ns);
      pairer.take(batch);
    };
    // One around all, written first; of each hundred a begin inside of an X that is written later.
    take('X', 0, 1'000'000);
    for (std::int64_t i = 0; i < 1000; ++i) {
      take('B', 100 * i + 50, 0);
      take('X', 100 * i + 60, 100 * i + 70);
      if (i % 2 == 0) take('X', 100 * i + 40, 100 * i + 90);
    }
    pairer.finish();
    REQUIRE(open.size() == 1000);
    for (const OpenBegin& begin : open) {
      const std::int64_t hundred = begin.start_ns - 50;
      CHECK(begin.around_end_ns == (hundred % 200 == 0 ? hundred + 90 : 1'000'000));
    }
  }
}

TEST_CASE("begin_end: where open begins end is what looking at all pairs says" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const std::string text =
        random_trace({.seed = seed, .style = TraceStyle::composer, .events = 400});
    struct Pair {
      std::uint32_t begin, end;
      std::int64_t end_ns;
    };
    // Payloads are places in the order of time, which is that of the pairer.
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    std::vector<std::string> threads;
    std::vector<Pair> pairs;
    std::vector<OpenBegin> open;
    BeginEndPairer pairer(
        {.pair =
             [&](const BeginEndPair& pair) {
               pairs.push_back({pair.begin_payload, pair.end_payload, pair.end_ns});
             },
         .stray_end = {},
         .open_begin = [&](const OpenBegin& begin) { open.push_back(begin); }});
    BeginEndBatch batch;
    std::vector<std::uint32_t> payloads;
    ProblemCounts ignored;
    EventScanner scanner;
    const std::size_t list = text.find('[') + 1;
    scanner.start(std::string_view(text).substr(list), list, Position::first, ignored);
    while (const Event* event = scanner.next()) {
      const EventTiming timing = time_event(*event, ignored);
      if (!timing.usable || (event->phase != 'B' && event->phase != 'E')) continue;
      batch.add(*event, timing.start_ns);
      payloads.push_back(static_cast<std::uint32_t>(order.size()));
      order.emplace_back(timing.start_ns, payloads.back());
      threads.push_back(canonical_id(event->text(Key::pid)) + "/" +
                        canonical_id(event->text(Key::tid)));
    }
    pairer.take(batch, payloads);
    pairer.finish();
    for (const OpenBegin& begin : open) {
      std::int64_t expected = OpenBegin::kNeverEnds;
      for (const Pair& pair : pairs)
        if (threads[pair.begin] == threads[begin.payload] &&
            order[pair.begin] < order[begin.payload] && order[begin.payload] < order[pair.end])
          expected = std::min(expected, pair.end_ns);
      CHECK(begin.around_end_ns == expected);
    }
  }
}

TEST_CASE("begin_end: a span too long for 64 bits is cut to what fits") {
  BeginEndPair pair{};
  pair.start_ns = std::numeric_limits<std::int64_t>::min();
  pair.end_ns = 5;
  CHECK(pair.duration_ns() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("begin_end: pairs of random traces are those of the oracle" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TraceStyle style = seed % 2 == 0 ? TraceStyle::composer : TraceStyle::kineto;
    const std::string text = random_trace({.seed = seed, .style = style, .events = 400});
    const oracle::FileSpans expected = oracle::find_spans({text});
    Strings expected_pairs;
    for (const oracle::Span& span : expected.spans)
      if (span.phase == 'B')
        expected_pairs.push_back(
            fmt::format("{} {}+{}", span.name, span.start_ns, span.duration_ns));
    Paired paired = pair_up(text, 1 + seed % 50, BeginEndPairer::kReorderRecords,
                            style == TraceStyle::composer);
    CHECK(paired.problems.count(Problem::end_without_begin) == expected.orphan_ends);
    CHECK(paired.problems.count(Problem::begin_without_end) == expected.unclosed_begins);
    CHECK(paired.problems.count(Problem::out_of_order) == 0);
    std::sort(paired.spans.begin(), paired.spans.end());
    std::sort(expected_pairs.begin(), expected_pairs.end());
    CHECK(paired.spans == expected_pairs);
  }
}
