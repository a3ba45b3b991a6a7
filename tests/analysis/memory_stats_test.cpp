#include "analysis/memory/memory_stats.h"

#include "base/problems.h"
#include "support/memory_source.h"
#include "support/pickle_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;
using namespace std::string_literals;

namespace {

std::string entry(int rank, int iteration, const std::string& end, const std::string& values) {
  return fmt::format("{}.training_step.{}.{}: {{{}}}\n", rank, iteration, end, values);
}

// Iterations 2 to 4 of a rank that grows by 10 bytes each, and by 100 within.
MemoryStatsFile growing_rank(int rank, int base) {
  std::string text;
  for (int i = 2; i <= 4; ++i) {
    text += entry(rank, i, "start", fmt::format("rss: {}", base + i * 10));
    text += entry(rank, i, "end", fmt::format("rss: {}, rss_diff: 100", base + i * 10 + 100));
  }
  return parse_memory_stats("stats.yaml", text);
}

const MemoryStatsRow& row_of(const std::vector<MemoryStatsRow>& rows, const std::string& value) {
  for (const MemoryStatsRow& row : rows)
    if (row.value == value) return row;
  throw std::runtime_error("no row " + value);
}

}  // namespace

TEST_CASE("memory stats: a mapping, with Python's tags or without, and JSON are the same") {
  const std::string plain =
      "0.training_step.2.end:\n  npp_diff: 1.5\n  rss: 123\n  x: null\n"
      "0.training_step.2.start:\n  rss: 23\n";
  const std::string tagged =
      "!!python/object/apply:collections.defaultdict\nargs:\n- !!python/name:builtins.dict ''\n"
      "dictitems:\n  0.training_step.2.end:\n    npp_diff: 1.5\n    rss: 123\n    x: null\n"
      "  0.training_step.2.start:\n    rss: 23\n";
  const std::string json =
      R"({"0.training_step.2.end": {"npp_diff": 1.5, "rss": 123, "time_ns": 17},)"
      R"( "0.training_step.2.start": {"rss": 23}})";
  for (const std::string& text : {plain, tagged, json}) {
    CAPTURE(text);
    const MemoryStatsFile file = parse_memory_stats("f.yaml", text);
    REQUIRE(file.snapshots.size() == 2);
    const MemorySnapshot& end = file.snapshots[0];
    CHECK(end.rank == 0);
    CHECK(end.function == "training_step");
    CHECK(end.iteration == 2);
    CHECK(end.at_end);
    CHECK(end.values == std::map<std::string, double>{{"npp_diff", 1.5}, {"rss", 123}});
    CHECK_FALSE(file.snapshots[1].at_end);
    CHECK(file.left_out == 0);
  }
}

TEST_CASE("memory stats: a function may have points in its name") {
  const MemoryStatsFile file = parse_memory_stats("f.yaml", "7.model.forward.12.start: {rss: 1}\n");
  CHECK(file.snapshots.at(0).function == "model.forward");
  CHECK(file.snapshots.at(0).rank == 7);
  CHECK(file.snapshots.at(0).iteration == 12);
}

TEST_CASE("memory stats: what is odd is left out and counted, a cut line too") {
  const MemoryStatsFile file = parse_memory_stats(
      "f.yaml",
      "0.f.1.end:\n  rss: 1\n  list: [1]\n  word: many\n  nan: .nan\nother: {rss: 1}\n0.f.1.mid: "
      "{rss: 1}\n-1.f.1.end: {rss: 1}\n0.f.2.end:\n  rss: 5\n  vms: 12");
  CHECK(file.is_cut);
  CHECK(file.left_out == 7);
  REQUIRE(file.snapshots.size() == 2);
  CHECK(file.snapshots[1].values == std::map<std::string, double>{{"rss", 5}});
}

TEST_CASE("memory stats: what is none is an error that says what it should be") {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_memory_stats("f.yaml", text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string none =
      "f.yaml: is no memory stats: a mapping of rank.function.iteration.start|end to what was "
      "measured";
  CHECK(error_of("") == none);
  CHECK(error_of("- 1\n- 2\n") == none);
  CHECK(error_of("a: 1\n") == none);
  CHECK(error_of("0.f.1.end: {rss: 1\nx\n") == "f.yaml: line 3: end of map flow not found");
  CHECK_THROWS_WITH_AS(read_memory_stats("/nowhere/rank_0_memory_stats.yaml"),
                       "/nowhere/rank_0_memory_stats.yaml: No such file or directory", Error);
}

TEST_CASE("memory stats: rows compare start and end, ranks, and iterations") {
  const std::vector<MemoryStatsRow> rows =
      compare_memory_stats({growing_rank(0, 1000), growing_rank(1, 3000)}, {});
  REQUIRE(rows.size() == 2);
  const MemoryStatsRow& rss = row_of(rows, "rss");
  CHECK(rss.ranks == 2);
  CHECK(rss.iterations == 3);
  CHECK(rss.start == doctest::Approx(2030));
  CHECK(rss.end == doctest::Approx(2130));
  CHECK(rss.difference == doctest::Approx(100));
  CHECK(rss.least == doctest::Approx(1130));
  CHECK(rss.most == doctest::Approx(3130));
  CHECK(rss.most_rank == 1);
  CHECK(rss.growth == doctest::Approx(10));
  const MemoryStatsRow& difference = row_of(rows, "rss_diff");
  CHECK_FALSE(difference.start.has_value());
  CHECK_FALSE(difference.difference.has_value());
  CHECK(difference.growth == doctest::Approx(0));
}

TEST_CASE("memory stats: rows of ranks stand by themselves when asked for, in any order of files") {
  const std::vector<MemoryStatsRow> rows =
      compare_memory_stats({growing_rank(1, 3000), growing_rank(0, 1000)}, {.by_rank = true});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].rank == 0);
  CHECK(rows[0].end == doctest::Approx(1130));
  CHECK(rows[1].rank == 1);
}

TEST_CASE(
    "memory stats: one iteration grows by nothing that is known, zeros and pools are hidden") {
  const MemoryStatsFile file = parse_memory_stats(
      "f.yaml", entry(0, 2, "end", "a: 5, num_ooms: 0, active_bytes.small_pool.current: 7"));
  const std::vector<MemoryStatsRow> rows = compare_memory_stats({file}, {});
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].growth.has_value());
  CHECK(compare_memory_stats({file}, {.all = true}).size() == 3);
}

TEST_CASE("memory stats: a pickle says the same as YAML") {
  MemorySource source(pickle(
      dict({{"0.training_step.2.end", dict({{"npp_diff", PickleCode("G\x3f\xf8\0\0\0\0\0\0"s)},
                                            {"rss", 123},
                                            {"x", PickleCode("N"s)},
                                            {"list", list({})},
                                            {"time_ns", 5}})},
            {"other", dict({})},
            {"0.training_step.2.start", dict({{"rss", 23}})}})));
  const PickleDocument document = read_pickle(source, "f.pickle");
  CHECK(is_memory_stats(document));
  const MemoryStatsFile file = read_memory_stats(document, "f.pickle");
  CHECK(file.left_out == 2);
  REQUIRE(file.snapshots.size() == 2);
  CHECK(file.snapshots[0].at_end);
  CHECK(file.snapshots[0].iteration == 2);
  CHECK(file.snapshots[0].values == std::map<std::string, double>{{"npp_diff", 1.5}, {"rss", 123}});
  CHECK(file.snapshots[1].values == std::map<std::string, double>{{"rss", 23}});
  MemorySource none(pickle(dict({{"segments", list({})}})));
  CHECK_FALSE(is_memory_stats(read_pickle(none, "f.pickle")));
}

TEST_CASE("memory stats: names say which values are bytes") {
  CHECK(is_bytes_value("rss_diff"));
  CHECK(is_bytes_value("allocated_bytes.all.peak"));
  CHECK_FALSE(is_bytes_value("num_ooms"));
}
