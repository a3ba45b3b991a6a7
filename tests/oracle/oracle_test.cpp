#include "oracle/oracle.h"

#include "support/random_trace.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace traceloom;
using oracle::FileSpans;
using oracle::find_spans;
using oracle::merge;
using oracle::Span;
using oracle::summarize;
using oracle::SummaryRow;

namespace {

std::string shown(const SummaryRow& row) {
  return fmt::format("{}: n={} total={} min={} max={} mean={} p50={} p90={} p99={} sd={:.3f}",
                     row.name, row.count, row.total_ns, row.min_ns, row.max_ns, row.mean_ns,
                     row.p50_ns, row.p90_ns, row.p99_ns, row.stddev_ns);
}

std::string shown(const oracle::MergedEvent& event) {
  return fmt::format("{} {} {} {}/{} {} {}", event.rank, event.ts_ns, event.phase, event.name,
                     event.cat, event.duration_ns, event.args);
}

template <typename Rows>
std::string shown(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) text += shown(row) + "\n";
  return text;
}

FileSpans spans_of(const TraceText& trace) {
  return find_spans({trace.array(), 0, 0});
}

}  // namespace

TEST_CASE("oracle: durations of complete events are exact") {
  const std::vector<Span> expected = {
      {"gemm", 'X', 10'500, 5'000}, {"gemm", 'X', 1'712'195'495'406'752'812, 1}, {"a", 'X', 1, 1}};
  CHECK(spans_of(TraceText()
                     .x("gemm", "10.5", 5)
                     .x("gemm", "1712195495406752.812", "0.001")
                     .x("a", "0.0006", "0.0009"))
            .spans == expected);
}

TEST_CASE("oracle: a duration that cannot be used is 0, an event without time is no span") {
  const std::vector<Span> expected = {{"none", 'X', 1'000, 0},
                                      {"null", 'X', 2'000, 0},
                                      {"negative", 'X', 3'000, 0},
                                      {"", 'X', 4'000, 25'500}};
  CHECK(spans_of(TraceText()
                     .raw(R"({"ph": "X", "name": "none", "ts": 1, "pid": 1, "tid": 1})")
                     .x("null", 2, "null")
                     .x("negative", 3, "-1.5")
                     .raw(R"({"ph": "X", "ts": "4", "dur": "25.5"})")
                     .x("lost", "\"abc\"", 1)
                     .raw(R"({"ph": "X", "name": "lost", "dur": 1})")
                     .raw(R"({"name": "lost", "ts": 1, "dur": 1})")
                     .raw("null")
                     .raw("{}"))
            .spans == expected);
}

TEST_CASE("oracle: E closes the innermost open B of its name, or the innermost when it has none") {
  const FileSpans found = spans_of(
      TraceText().b("a", 0).b("b", 1).b("a", 2).e("a", 3).e("a", 10).b("c", 11).e(12).e(13).e(14));
  const std::vector<Span> expected = {{"a", 'B', 2'000, 1'000},
                                      {"a", 'B', 0, 10'000},
                                      {"c", 'B', 11'000, 1'000},
                                      {"b", 'B', 1'000, 12'000}};
  CHECK(found.spans == expected);
  CHECK(found.orphan_ends == 1);
  CHECK(found.unclosed_begins == 0);
}

TEST_CASE("oracle: orphans and unclosed B are counted, threads are kept apart") {
  const FileSpans found = spans_of(
      TraceText().e("a", 1).tid("7").b("a", 2).tid("8").e("a", 3).tid("\"7\"").e("a", 4).b("b", 5));
  const std::vector<Span> expected = {{"a", 'B', 2'000, 2'000}};
  CHECK(found.spans == expected);
  CHECK(found.orphan_ends == 2);
  CHECK(found.unclosed_begins == 1);
}

TEST_CASE("oracle: B and E are paired in time order, in file order where times are equal") {
  const FileSpans found =
      spans_of(TraceText().e("a", 50).b("a", 10).b("z", 60).e("z", 60).e("y", 70).b("y", 70));
  const std::vector<Span> expected = {{"a", 'B', 10'000, 40'000}, {"z", 'B', 60'000, 0}};
  CHECK(found.spans == expected);
  CHECK(found.orphan_ends == 1);
  CHECK(found.unclosed_begins == 1);
}

TEST_CASE("oracle: summary of several files, by name") {
  TraceText first;
  for (int i = 1; i <= 10; ++i) first.x("op", i * 100, i);
  const TraceText second = TraceText().b("op", 0).e("op", "0.5").x("one", 3, 7);
  CHECK(shown(summarize({{first.array(), 0, 0}, {second.compact(), 1, 99}})) ==
        "one: n=1 total=7000 min=7000 max=7000 mean=7000 p50=7000 p90=7000 p99=7000 sd=0.000\n"
        "op: n=11 total=55500 min=500 max=10000 mean=5045 p50=5000 p90=9000 p99=10000 "
        "sd=3243.875\n");
}

TEST_CASE("oracle: mean is rounded half up") {
  CHECK(summarize({{TraceText().x("a", 0, "0.001").x("a", 0, "0.002").array(), 0, 0}})[0].mean_ns ==
        2);
  CHECK(summarize({{TraceText().x("a", 0, 0).x("a", 0, 0).x("a", 0, "0.001").array(), 0, 0}})[0]
            .mean_ns == 0);
}

TEST_CASE("oracle: an arrow ends at the next slice of its row, in time and in the list") {
  const std::string text = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":1},
{"ph":"f","name":"before","pid":1,"tid":1,"ts":5,"id":1},
{"ph":"X","name":"other","pid":1,"tid":2,"ts":5,"dur":1},
{"ph":"X","name":"b","pid":1,"tid":1,"ts":"5.0","dur":1},
{"ph":"f","name":"late","pid":1,"tid":1,"ts":5,"id":2},
{"ph":"f","name":"around","bp":"e","pid":1,"tid":1,"ts":5,"id":3},
{"ph":"X","name":"c","pid":1,"tid":1,"ts":6,"dur":1},
{"ph":"X","name":"longer","pid":1,"tid":1,"ts":6,"dur":2},
{"ph":"f","name":"lost","bp":"n","pid":1,"tid":1,"ts":7,"id":4}])";
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"before", "b"}, {"late", "longer"}, {"lost", ""}};
  CHECK(oracle::next_slices(oracle::parse_json(text)) == expected);
}

TEST_CASE("oracle: merge shifts each file, leaves out metadata and orphans, keeps the rest") {
  const std::string rank0 = TraceText()
                                .composer_rank(0, "100")
                                .cat("c")
                                .b("step", 1, R"({"b": 1, "a": "\u00e9"})")
                                .e("step", 4)
                                .e("orphan", 5)
                                .b("open", 6)
                                .cut_array();
  const std::string rank1 =
      TraceText().x("gemm", "-0.5", "1.25").c("mem", 2, R"({"v": 1.50})").object();
  CHECK(shown(merge({{rank1, 1, -2'000}, {rank0, 0, 10}})) ==
        "0 1010 X step/c 3000 {\"a\":\"é\",\"b\":1}\n"
        "0 6010 X open/c 0 \n"
        "1 -2500 X gemm/ 1250 \n"
        "1 0 C mem/ 0 {\"v\":1.50}\n");
}

TEST_CASE("oracle: a joined slice has the args of both, those of the end first") {
  const auto joined = [](const std::string& begin_args, const std::string& end_args) {
    return shown(merge({{TraceText().b("s", 1, begin_args).e("s", 3, end_args).array(), 0, 0}}));
  };
  CHECK(joined(R"({"a": 1, "b": 2})", R"({"b": 3, "c": 4})") ==
        "0 1000 X s/ 2000 {\"a\":1,\"b\":3,\"c\":4}\n");
  CHECK(joined(R"({"a": 1})", "{}") == "0 1000 X s/ 2000 {\"a\":1}\n");
  CHECK(joined(R"("text")", R"({"b": 3})") == "0 1000 X s/ 2000 {\"b\":3}\n");
}

TEST_CASE("oracle: steps of an old operation begin or end a slice of their own name") {
  TraceText trace;
  trace.cat("c").with_id("T", "op", 0, "7").with_id("F", "op", 9, "\"7\"");
  trace.with_id("S", "op", 1, "7").with_id("S", "op", 8, "8").cat("d");
  trace.raw(R"({"ph":"T","name":"op","id":7,"ts":3,"pid":1,"tid":1,"args":{"step":"one"}})");
  trace.raw(R"({"ph":"p","name":"op","id":7,"ts":5,"pid":1,"tid":1,"args":{"step":2}})");
  CHECK(shown(merge({{trace.array(), 0, 0}})) ==
        "0 0 n op/c 0 \n"
        "0 1000 b op/c 0 \n"
        "0 3000 b one/c 0 {\"step\":\"one\"}\n"
        "0 5000 e 2/c 0 {\"step\":2}\n"
        "0 8000 b op/c 0 \n"
        "0 9000 e op/c 0 \n");
}

TEST_CASE("random_trace: a seed gives one text, seeds give different ones") {
  CHECK(random_trace({.seed = 5}) == random_trace({.seed = 5}));
  CHECK(random_trace({.seed = 5}) != random_trace({.seed = 6}));
}

TEST_CASE("random_trace: has every everyday phase, orphans and unclosed B") {
  std::set<char> phases;
  FileSpans sum;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text =
        random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed % 3), .events = 100});
    for (const oracle::MergedEvent& event : merge({{text, 0, 0}})) phases.insert(event.phase);
    const FileSpans found = find_spans({text, 0, 0});
    for (const Span& span : found.spans) phases.insert(span.phase);
    sum.orphan_ends += found.orphan_ends;
    sum.unclosed_begins += found.unclosed_begins;
  }
  CHECK(std::string(phases.begin(), phases.end()) == "BCXbefis");
  CHECK(sum.orphan_ends > 100);
  CHECK(sum.unclosed_begins > 100);
}

TEST_CASE("random_trace: without broken pairs every B has its E") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const FileSpans found = find_spans({random_trace({.seed = seed, .broken_pairs = false}), 0, 0});
    CHECK(found.orphan_ends == 0);
    CHECK(found.unclosed_begins == 0);
  }
}
