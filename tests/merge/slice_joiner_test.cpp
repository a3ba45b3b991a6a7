// These tests check that begin and end events become X events; the pairing itself is tested with
// BeginEndPairer.
#include "merge/slices/slice_joiner.h"

#include "scan/event_scanner.h"
#include "support/filter_files.h"
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

// Returns the events of a merge, a line each, without metadata.
Texts events_in(const std::string& merged) {
  Texts found;
  std::size_t at = merged.find("\"traceEvents\": [");
  while ((at = merged.find('\n', at)) != std::string::npos) {
    ++at;
    const std::string line = merged.substr(at, merged.find('\n', at) - at);
    if (line.starts_with(']')) break;
    if (line.find("__metadata") != std::string::npos) continue;
    found.push_back(line.ends_with(',') ? line.substr(0, line.size() - 1) : line);
  }
  return found;
}

Texts joined(const std::string& list) {
  return events_in(merge_texts({{"rank0.json", list}}));
}

}  // namespace

TEST_CASE("slice_joiner: a pair becomes an X where its end stands, with the text of its begin") {
  CHECK(
      joined(R"([{"ph":"B","name":"a","ts":1.5,"pid":1,"tid":7,"cat":"c","args":{"n": 1}},
                   {"ph":"X","name":"in","ts":2,"dur":1,"pid":1,"tid":7},
                   {"ph":"E","name":"a","ts":4,"pid":1,"tid":7}])") ==
      Texts{
          R"({"ph":"X","name":"in","ts":1,"dur":1,"pid":0,"tid":7})",
          R"({"ph":"X","name":"a","ts":0.5, "dur": 2.5,"pid":0,"tid":7,"cat":"c","args":{"n": 1}})"});
}

TEST_CASE("slice_joiner: a pair of no length stays") {
  CHECK(joined(R"([{"ph":"B","name":"a","ts":3,"pid":1,"tid":7},
                   {"ph":"E","name":"a","ts":3,"pid":1,"tid":7}])") ==
        Texts{R"({"ph":"X","name":"a","ts":0, "dur": 0,"pid":0,"tid":7})"});
}

TEST_CASE("slice_joiner: what begins with its parent stands behind it") {
  const std::string trace = TraceText()
                                .b("outer", 10)
                                .b("middle", 10)
                                .b("inner", 10)
                                .e("inner", 11)
                                .b("second", 11)
                                .e("second", 12)
                                .e("middle", 20)
                                .b("later", 20)
                                .e("later", 21)
                                .e("outer", 30)
                                .array();
  Texts names;
  for (const oracle::Json& event : events_of(merge_texts({{"rank0.json", trace}})))
    if (text_of(event, "ph") == "X")
      names.push_back(text_of(event, "name") + "+" + text_of(event, "dur"));
  CHECK(names == Texts{"second+1", "later+1", "outer+20", "middle+10", "inner+1"});
}

TEST_CASE("slice_joiner: it stands before an X that begins and ends with it, if its B does") {
  CHECK(joined(R"([{"ph":"B","name":"outer","ts":1,"pid":0,"tid":0},
                   {"ph":"X","name":"inner","ts":1,"dur":2,"pid":0,"tid":0},
                   {"ph":"E","name":"outer","ts":3,"pid":0,"tid":0},
                   {"ph":"X","name":"outer","ts":5,"dur":2,"pid":0,"tid":0},
                   {"ph":"B","name":"inner","ts":5,"pid":0,"tid":0},
                   {"ph":"E","name":"inner","ts":7,"pid":0,"tid":0}])") ==
        Texts{R"({"ph":"X","name":"outer","ts":0, "dur": 2,"pid":0,"tid":10000000})",
              R"({"ph":"X","name":"outer","ts":4,"dur":2,"pid":0,"tid":10000000})",
              R"({"ph":"X","name":"inner","ts":0,"dur":2,"pid":0,"tid":10000000})",
              R"({"ph":"X","name":"inner","ts":4, "dur": 2,"pid":0,"tid":10000000})"});
}

TEST_CASE("slice_joiner: the args of both, those of the end stand") {
  const auto args = [](const std::string& begin, const std::string& end) {
    const Texts events =
        joined(R"([{"ph":"B","name":"a","ts":1)" + begin + R"(,"pid":1,"tid":7},)" +
               R"({"ph":"E","name":"a","ts":2,"pid":1,"tid":7)" + end + "}]");
    REQUIRE(events.size() == 1);
    return events[0];
  };
  CHECK(args(R"(,"args":{"a":1})", R"(,"args":{"a":1})") ==
        R"({"ph":"X","name":"a","ts":0, "dur": 1,"args":{"a":1},"pid":0,"tid":7})");
  CHECK(
      args(R"(,"args":{"a":1, "b":[2]})", R"(,"args":{"\u0062":3,"c\n":"x"})") ==
      R"({"ph":"X","name":"a","ts":0, "dur": 1,"args":{"a": 1, "b": 3, "c\n": "x"},"pid":0,"tid":7})");
  CHECK(args("", R"(,"args":{"b":3})") ==
        R"({"ph":"X","name":"a","ts":0, "dur": 1,"pid":0,"tid":7, "args": {"b":3}})");
  CHECK(args(R"(,"args":{"a":1})", R"(,"args":null)") ==
        R"({"ph":"X","name":"a","ts":0, "dur": 1,"args":{"a":1},"pid":0,"tid":7})");
}

TEST_CASE("slice_joiner: args before the time move its place") {
  CHECK(
      joined(R"([{"args":{"a":1},"ph":"B","name":"a","ts":1,"pid":1,"tid":7},
                   {"ph":"E","name":"a","ts":2,"pid":1,"tid":7,"args":{"long": "text"}}])") ==
      Texts{
          R"({"args":{"a": 1, "long": "text"},"ph":"X","name":"a","ts":0, "dur": 1,"pid":0,"tid":7})"});
}

TEST_CASE("slice_joiner: a dur that a B brings along is replaced") {
  CHECK(joined(R"([{"ph":"B","name":"a","dur":0,"tdur":0,"ts":1,"pid":1,"tid":7},
                   {"ph":"E","name":"a","dur":0,"ts":2,"pid":1,"tid":7}])") ==
        Texts{R"({"ph":"X","name":"a","dur":1,"ts":0,"pid":0,"tid":7})"});
}

TEST_CASE("slice_joiner: the clock of the thread and the stack at the end are those of the E") {
  CHECK(joined(R"([{"ph":"B","name":"a","tts":1.5,"ts":1,"tdur":9,"esf":3,"pid":1,"tid":7,"sf":1},
                   {"ph":"E","name":"a","tts":"4","ts":9,"pid":1,"tid":7,"sf":2}])") ==
        Texts{R"({"ph":"X","name":"a","tts":1.5,"ts":0, "dur": 8, "tdur": 2.5, "esf": "f0_2",)"
              R"("source_esf":3,"pid":0,"tid":7,"sf":"f0_1"})"});
  // A clock that one of them lacks, or that goes back, says nothing.
  for (const char* const clock : {"", R"("tts":1,)", R"("tts":null,)"}) {
    CAPTURE(clock);
    CHECK(joined(R"([{"tdur":0 , "ph":"B","name":"a","tts":2,"ts":1,"pid":1,"tid":7},{)" +
                 std::string(clock) +
                 R"("ph":"E","name":"a","ts":2,"pid":1,"tid":7,"sf":null}])") ==
          Texts{R"({ "ph":"X","name":"a","tts":2,"ts":0, "dur": 1,"pid":0,"tid":7})"});
  }
}

TEST_CASE("slice_joiner: an E may call its stack the one at the end") {
  CHECK(joined(R"([{"ph":"B","name":"a","ts":1,"pid":1,"tid":7,"sf":1},
                   {"ph":"E","name":"a","ts":9,"pid":1,"tid":7,"esf":2}])") ==
        Texts{R"({"ph":"X","name":"a","ts":0, "dur": 8, "esf": "f0_2","pid":0,"tid":7,)"
              R"("sf":"f0_1"})"});
}

TEST_CASE("slice_joiner: B and E that need a repair") {
  CHECK(
      joined("[{\"ph\":\"B\",\"name\":\"a\tb\",\"ts\":\"1\",\"pid\":1,\"tid\":7},"
             "{\"ph\":\"E\",\"name\":\"a\tb\",\"ts\":\"2.5\",\"pid\":1,\"tid\":7,"
             "\"args\":{\"k\":NaN}}]") ==
      Texts{R"({"ph":"X","name":"a\tb","ts":0, "dur": 1.5,"pid":0,"tid":7, "args": {"k":"NaN"}})"});
}

TEST_CASE("slice_joiner: what stays open ends with its file, and says so") {
  const std::string list = R"([{"ph":"B","name":"a","ts":10,"pid":1,"tid":7},
                               {"ph":"B","name":"b","ts":10,"pid":1,"tid":7},
                               {"ph":"X","name":"x","ts":12,"dur":8,"pid":1,"tid":7},
                               {"ph":"E","name":"stray","ts":15,"pid":1,"tid":8}])";
  const Texts expected{
      R"({"ph":"X","name":"x","ts":2,"dur":8,"pid":0,"tid":7})",
      R"({"ph":"X","name":"a","ts":0, "dur": 10,"pid":0,"tid":7, "unclosed": true})",
      R"({"ph":"X","name":"b","ts":0, "dur": 10,"pid":0,"tid":7, "unclosed": true})"};
  CHECK(joined(list) == expected);
  const TemporaryFolder folder;
  const MergeOptions options = merge_options(folder, {{"rank0.json", list}}, "out.json");
  const MergeSummary summary = merge_traces(options);
  CHECK(summary.files[0].problems.count(Problem::begin_without_end) == 2);
  CHECK(summary.files[0].problems.count(Problem::end_without_begin) == 1);
  CHECK(summary.events == 3);
}

TEST_CASE("slice_joiner: what stays open inside of a closed slice ends with that") {
  const NamedTexts files{
      {"rank0.json",
       TraceText().e("a", 1).b("a", 2).b("b", 3).e("a", 4).b("c", 5).x("x", 5, 4).array()}};
  const auto lengths = [&](const PlanOptions& plan) {
    Texts found;
    for (const std::string& line : MergedCase(files, plan).events()) {
      const oracle::Json event = oracle::parse_json(line);
      if (text_of(event, "ph") == "X")
        found.push_back(fmt::format("{} {}+{}", text_of(event, "name"), text_of(event, "ts"),
                                    text_of(event, "dur")));
    }
    std::ranges::sort(found);
    return found;
  };
  CHECK(lengths({}) == Texts{"a 0+2", "b 1+1", "c 3+4", "x 3+4"});
  CHECK(lengths({.sort_by_time = true}) == Texts{"a 0+2", "b 1+1", "c 3+4", "x 3+4"});
}

TEST_CASE("slice_joiner: a filter takes what stays open to be as long as it is drawn") {
  FilterFiles files(
      {{"rank0.json", TraceText().b("a", 1).b("b", 3).e("a", 4).b("c", 5).x("x", 9, 50).array()}});
  files.options.filter.min_duration_ns = 3'000;
  CHECK(files.kept() == Texts{"X x", "X a", "X c"});
}

TEST_CASE("slice_joiner: a merge of a merge leaves joined slices as they are") {
  const std::string trace =
      TraceText().b("a", 1).b("b", 1).e("b", 2).e("a", 3).b("open", 4).i("end", 9).array();
  const std::string once = merge_texts({{"rank0.json", trace}});
  CHECK(without_other_data(merge_texts({{"once.json", once}})) == without_other_data(once));
}

TEST_CASE("slice_joiner: pairs across chunks, whatever the number of threads") {
  TraceText trace;
  trace.b("epoch", 0).b("batch", 0);
  for (int i = 0; i < 20'000; ++i) {
    trace.b("outer", 10 * i).b("same", 10 * i).e("same", 10 * i + 1).e("outer", 10 * i + 9);
    trace.x("filler", 10 * i, 2);
  }
  const std::string text = trace.e("batch", 200'000).e("epoch", 200'001).array();
  REQUIRE(text.size() > (std::size_t{4} << 20));
  const std::string merged = merge_texts({{"rank0.json", text}});
  const std::string events = without_other_data(merged);
  if (is_night()) CHECK((without_other_data(merge_texts({{"rank0.json", text}}, 2)) == events));
  CHECK((without_other_data(merge_texts({{"rank0.json", text}}, 5)) == events));
  CHECK(read_merged(merged) == oracle::merge({{text, 0, 0}}));
}

TEST_CASE("slice_joiner: in little memory events are joined as they come, and none is lost") {
  // Neighbours are out of order: an event that cannot wait to be sorted pairs with nothing.
  SliceHalves halves;
  const auto add = [&](char phase, std::int64_t start_ns, std::size_t size) {
    const std::string raw = fmt::format(R"({{"ph":"{}","pid":1,"tid":1,"name":"a"}})", phase);
    EventScanner scanner;
    ProblemCounts ignored;
    scanner.start(raw, 0, Position::first, ignored);
    SliceHalf half;
    if (phase == 'B') half.text = "{" + std::string(size, 'x') + "}";
    half.duration_at = half.text.empty() ? 0 : half.text.size() - 1;
    halves.add(*scanner.next(), start_ns, std::move(half));
  };
  for (std::int64_t i = 0; i < 100; ++i) {
    add('B', i * 10, 1000);
    add('E', i * 10 + 5, 0);
  }
  SliceJoiner roomy;
  roomy.take(halves);
  CHECK(roomy.out().events.empty());
  SliceJoiner narrow(0, 20'000);
  narrow.take(halves);
  CHECK(narrow.out().events.size() > 80);
  CHECK(narrow.out().events.size() < 100);
  roomy.finish({});
  narrow.finish({});
  CHECK(narrow.out().events.size() == 100);
  CHECK((narrow.out().text.view() == roomy.out().text.view()));
  CHECK(narrow.problems().empty());
}

TEST_CASE("slice_joiner: what stays open in a merged file ends with its own rank") {
  const std::string list = TraceText()
                               .pid("0")
                               .tid("5")
                               .m("global_rank", R"({"value": 0})")
                               .b("fit", 0)
                               .x("a", 1, 1)
                               .pid("1")
                               .tid("6")
                               .m("global_rank", R"({"value": 1})")
                               .b("fit", 3)
                               .x("b", 1'000'000, 1)
                               .pid("0")
                               .tid("5")
                               .x("c", 5, 2)
                               .array();
  Texts durations;
  for (const oracle::Json& event : events_of(MergedCase({{"merge.json", list}}).text()))
    if (text_of(event, "name") == "fit")
      durations.push_back(text_of(event, "pid") + " " + text_of(event, "dur"));
  CHECK(durations == Texts{"0 7", "1 999998"});
}

TEST_CASE("last_ends: of each rank the latest, in whatever order they come") {
  LastEnds ends;
  CHECK(ends.of(0, 4) == 4);
  for (const auto& [rank, end_ns] : {std::pair{0, 7}, {1, 30}, {0, 5}, {2, 1}, {1, 20}})
    ends.note(rank, end_ns);
  CHECK(ends.of(0, 4) == 7);
  CHECK(ends.of(0, 9) == 9);
  CHECK(ends.of(1, 4) == 30);
  CHECK(ends.of(2, 0) == 1);
  LastEnds sum;
  sum.note(1, 10);
  sum.add(ends);
  CHECK(sum.of(0, 4) == 7);
  CHECK(sum.of(1, 4) == 30);
  sum.clear();
  CHECK(sum.of(1, 4) == 4);
}

TEST_CASE("slice_joiner: begin events that stay open are kept, however little the memory") {
  std::string list = "[";
  for (int i = 0; i < 2000; ++i)
    list += fmt::format(R"({{"ph":"B","name":"a{0}","ts":{0},"pid":1,"tid":7}},)", i);
  for (int i = 1999; i >= 0; --i)
    list += fmt::format(R"({{"ph":"E","name":"a{}","ts":{},"pid":1,"tid":7}}{})", i, 5000 - i,
                        i == 0 ? "]" : ",");
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, {{"rank0.json", list}}, "out.json");
  options.max_memory = std::uint64_t{31} << 20;
  merge_traces(options);
  CHECK(events_in(read_file(options.output)) == joined(list));
}

// Each slice was copied once into the one around it: 20,000 took 55 s, and 10,000 took 5 GB.
TEST_CASE("slice_joiner: any number of slices that begin together stand parents first") {
  constexpr int kDepth = 20'000;
  TraceText text;
  for (int i = 0; i < kDepth; ++i) text.b("s" + std::to_string(i), 10);
  for (int i = kDepth - 1; i >= 0; --i) text.e("s" + std::to_string(i), 20 + kDepth - i);
  const Texts slices = joined(text.array());
  REQUIRE(slices.size() == kDepth);
  int in_place = 0;
  for (int i = 0; i < kDepth; ++i)
    in_place +=
        slices[static_cast<std::size_t>(i)].find(fmt::format("\"s{}\"", i)) != std::string::npos;
  CHECK(in_place == kDepth);
}
