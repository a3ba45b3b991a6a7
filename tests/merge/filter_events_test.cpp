// These tests check what a filter keeps of each kind of event.
#include "support/filter_files.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("filter_events: a pair of B and E is judged as the X that it becomes") {
  FilterFiles files({{"a.json", TraceText()
                                    .cat("out")
                                    .b("outer", 0)
                                    .cat("in")
                                    .b("same start", 0)
                                    .e("same start", 3)
                                    .b("long", 10)
                                    .e(60)
                                    .cat("")
                                    .e("outer", 90)
                                    .b("open", 95)
                                    .i("end", 120)
                                    .array()}});
  files.options.filter.labels.categories = {"in"};
  CHECK(files.kept() == Texts{"X long", "X same start"});
  files.options.filter.labels.categories = {};
  files.options.filter.min_duration_ns = 25'000;
  CHECK(files.kept() == Texts{"i end", "X long", "X outer", "X open"});
  files.options.filter.min_duration_ns = 25'001;
  CHECK(files.kept() == Texts{"i end", "X long", "X outer"});
  files.options.filter.min_duration_ns = 0;
  files.options.filter.time = {.from_ns = 50'000, .to_ns = {}};
  CHECK(files.kept() == Texts{"i end", "X open"});
}

TEST_CASE("filter_events: an open B ends with its file, also where the last events are dropped") {
  FilterFiles files({{"a.json", TraceText().b("open", 10).x("last", 20, 80).array()}});
  files.options.filter.labels.names.emplace_back("open");
  const Merged merged = files.merge();
  CHECK(text_of(events_of(merged.text).back(), "dur") == "90");
}

TEST_CASE("filter_events: an open B of a merged file is as long as its rank, also to a filter") {
  FilterFiles files({{"a.json", TraceText()
                                    .m("global_rank", R"({"value": 1})")
                                    .b("open", 10)
                                    .x("short", 15, 1)
                                    .pid("2")
                                    .m("global_rank", R"({"value": 2})")
                                    .b("long", 10)
                                    .x("last", 20, 80)
                                    .array()}});
  files.options.filter.min_duration_ns = 50'000;
  CHECK(files.kept() == Texts{"X last", "X long"});
  CHECK(files.merge().summary.filtered == 2);
}

TEST_CASE(
    "filter_events: an arrow that loses an end goes, one that never had it goes with its slice") {
  const auto arrows = TraceText()
                          .cat("cpu")
                          .x("launch", 0, 5)
                          .cat("ac2g")
                          .with_id("s", "lost", 0, "1")
                          .with_id("s", "whole", 0, "2")
                          .with_id("s", "dangling", 0, "3")
                          .tid("7")
                          .cat("kernel")
                          .x("gemm", 10, 50)
                          .cat("ac2g")
                          .raw(R"({"ph":"f","bp":"e","name":"whole","cat":"ac2g","id":2,"ts":10,)"
                               R"("pid":1,"tid":7})")
                          .cat("kernel")
                          .x("short", 70, 1)
                          .raw(R"({"ph":"f","bp":"e","name":"lost","cat":"ac2g","id":1,"ts":70,)"
                               R"("pid":1,"tid":7})")
                          .array();
  FilterFiles files({{"a.json", arrows}});
  files.options.filter.min_duration_ns = 2'000;
  CHECK(files.kept() == Texts{"X launch", "s whole", "s dangling", "X gemm", "f whole"});
  files.options.filter.min_duration_ns = 0;
  files.options.filter.labels.categories = {"kernel"};
  CHECK(files.kept() == Texts{"X gemm", "X short"});
  files.options.filter.labels.categories = {"cpu", "kernel"};
  CHECK(files.kept() == Texts{"X launch", "s lost", "s whole", "s dangling", "X gemm", "f whole",
                              "X short", "f lost"});
  files.options.filter.labels.categories = {};
  files.options.filter.labels.excluded_categories = {"ac2g"};
  CHECK(files.kept() == Texts{"X launch", "X gemm", "X short"});
}

TEST_CASE("filter_events: of each arrow both ends are kept, or none") {
  std::string text = "[";
  for (int i = 0; i < 40; ++i)
    text += fmt::format(
        R"({{"ph":"X","cat":"a","name":"n{0}","ts":{1},"dur":4,"pid":1,"tid":1}},
           {{"ph":"{2}","cat":"c","name":"go","id":{3},"ts":{1},"pid":1,"tid":1,"bp":"e"}},)",
        i % 5, i * 10,
        i % 4 == 0   ? 's'
        : i % 4 == 3 ? 'f'
                     : 't',
        i / 4 + 1);
  text.back() = ']';
  FilterFiles files({{"rank0.json", text}});
  for (const char* const name : {"n1", "n2", "n4"})
    files.options.filter.labels.names.emplace_back(name);
  std::map<std::string, std::string> phases;  // key: id
  for (const oracle::Json& event : events_of(files.merge().text))
    if (const std::string id = text_of(event, "id"); !id.empty())
      phases[id] += text_of(event, "ph");
  // The filter keeps 1 and 2 of the chain of the events 0 to 3, and no two neighbours of 8 to 11.
  CHECK(phases.size() == 6);
  for (const auto& [id, both] : phases) {
    CAPTURE(id);
    CHECK(both == "sf");
  }
  CHECK(files.kept().size() == 36);
}

TEST_CASE("filter_events: each start of an id that is used again begins another arrow") {
  FilterFiles files({{"a.json", TraceText()
                                    .x("one", 0, 5)
                                    .with_id("s", "f", 0, "1")
                                    .with_id("t", "f", 1, "1")
                                    .x("two", 10, 5)
                                    .with_id("s", "f", 10, "1")
                                    .x("three", 20, 5)
                                    .with_id("t", "f", 20, "1")
                                    .array()}});
  files.options.filter.labels.excluded_names.emplace_back("two");
  CHECK(files.kept() == Texts{"X one", "s f", "t f", "X three"});
}

TEST_CASE("filter_events: a chain of arrows that loses a slice falls apart, and invents no arrow") {
  const auto event = [](char phase, int number) {
    return fmt::format(R"({{"ph":"X","name":"{0}","pid":1,"tid":{0},"ts":{1},"dur":5}},)"
                       R"({{"ph":"{2}","name":"f","cat":"c","id":1,"pid":1,"tid":{0},"ts":{1}}})",
                       number, number * 10, phase);
  };
  FilterFiles files({{"a.json", fmt::format("[{},{},{},{},{}]", event('s', 1), event('t', 2),
                                            event('t', 3), event('t', 4), event('t', 5))}});
  const auto without = [&](const char* name) {
    files.options.filter.labels.excluded_names.clear();
    files.options.filter.labels.excluded_names.emplace_back(name);
    return files.kept();
  };
  CHECK(without("^1$") == Texts{"X 2", "s f", "X 3", "t f", "X 4", "t f", "X 5", "t f"});
  CHECK(without("^2$") == Texts{"X 1", "X 3", "s f", "X 4", "t f", "X 5", "t f"});
  CHECK(without("^3$") == Texts{"X 1", "s f", "X 2", "f f", "X 4", "s f", "X 5", "t f"});
  CHECK(without("^4$") == Texts{"X 1", "s f", "X 2", "t f", "X 3", "f f", "X 5"});
  CHECK(without("^5$") == Texts{"X 1", "s f", "X 2", "t f", "X 3", "t f", "X 4", "f f"});
  CHECK(without("^[24]$") == Texts{"X 1", "X 3", "X 5"});
}

TEST_CASE("filter_events: a flow event in no slice goes by its own name, category and time") {
  FilterFiles files({{"a.json", TraceText()
                                    .cat("k")
                                    .x("a", 0, 5)
                                    .with_id("s", "f", 50, "1")
                                    .with_id("t", "f", 60, "1")
                                    .cat("l")
                                    .with_id("s", "g", 50, "1")
                                    .with_id("t", "g", 60, "1")
                                    .array()}});
  files.options.filter.labels.categories = {"k"};
  CHECK(files.kept() == Texts{"X a", "s f", "t f"});
}

TEST_CASE("filter_events: what an async operation consists of is not torn apart") {
  FilterFiles files({{"a.json", TraceText()
                                    .with_id("b", "one", 0, "1")
                                    .with_id("b", "inner", 5, "1")
                                    .with_id("n", "point", 30, "1")
                                    .with_id("e", "inner", 40, "1")
                                    .with_id("b", "again", 45, "2")
                                    .with_id("e", "one", 50, "1")
                                    .raw(R"({"ph":"e","cat":"","ts":60,"pid":1,"tid":1,"id":2})")
                                    .with_id("S", "old", 10, "\"x\"")
                                    .with_id("T", "old", 35, "\"x\"")
                                    .with_id("F", "old", 55, "\"x\"")
                                    .with_id("e", "stray", 70, "9")
                                    .array()}});
  files.options.filter.time = {.from_ns = {}, .to_ns = 20'000};
  CHECK(files.kept() ==
        Texts{"b one", "b inner", "e inner", "e one", "b old", "b old", "e old", "e old"});
  files.options.filter.time = {.from_ns = 20'000, .to_ns = {}};
  CHECK(files.kept() == Texts{"n point", "b again", "e ", "e stray", "e again"});
  files.options.filter.time = {};
  files.options.filter.min_duration_ns = 1'000'000;
  CHECK(files.kept().size() == 13);  // two of them are added
}

TEST_CASE("filter_events: counters, instants and flows between slices go by what they are called") {
  FilterFiles files(
      {{"a.json", TraceText()
                      .cat("k")
                      .c("mem", 1, "{\"v\": 1}")
                      .i("mark", 2)
                      .raw(R"({"ph":"X","name":"out","cat":"k","ts":3,"dur":1,"pid":1,"tid":1,)"
                           R"("bind_id":3,"flow_out":true})")
                      .cat("l")
                      .c("net", 4, "{\"v\": 1}")
                      .raw(R"({"ph":"X","ts":5,"dur":1,"pid":1,"tid":1})")
                      .array()}});
  files.options.filter.labels.categories = {"k"};
  CHECK(files.kept() == Texts{"C mem", "i mark", "X out"});
  files.options.filter.labels.categories = {};
  files.options.filter.labels.excluded_names.emplace_back("^m");
  CHECK(files.kept() == Texts{"X out", "C net", "X (none)"});
  files.options.filter.labels.excluded_names = {NamePattern("^\\(none\\)$")};
  CHECK(files.kept() == Texts{"C mem", "i mark", "X out", "C net"});
}
