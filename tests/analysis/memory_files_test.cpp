#include "analysis/snapshots/memory_files.h"

#include "base/problems.h"
#include "identity/ranks/ranks.h"
#include "memory/pickle.h"
#include "support/pickle_text.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

PickleCode kept_stack(const char* function) {
  return list({dict({{"name", function}, {"filename", "/a/x.py"}, {"line", 1}})});
}

// A snapshot of device `device` that holds `bytes` at x.py:1 f, and as much less at x.py:1 g.
std::string snapshot_text(std::int64_t bytes, int device) {
  const auto block = [](std::int64_t size, const char* function) {
    return dict({{"size", size},
                 {"requested_size", size},
                 {"state", "active_allocated"},
                 {"frames", kept_stack(function)}});
  };
  return pickle(
      dict({{"segments",
             list({dict({{"device", device},
                         {"address", 4096},
                         {"total_size", 10'000},
                         {"blocks", list({block(bytes, "f"), block(10'000 - bytes, "g")})}})})},
            {"device_traces", list({})}}));
}

Report report_of(const MemoryFiles& files, const MemoryFileOptions& options = {}) {
  Report report("memory", Run{});
  add_memory_files(files, options, report);
  return report;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("memory files: the rank in a name") {
  using Ranks = std::vector<std::optional<std::int64_t>>;
  CHECK(ranks_in_names({"a/cuda_alloc_rank_12.training_step.2.end.pickle"}) == Ranks{12});
  CHECK(ranks_in_names({"rank0.4.memory_snapshot.pickle"}) == Ranks{0});
  CHECK(ranks_in_names({"snapshot_oom_rank-3_full.pickle"}) == Ranks{3});
  CHECK(ranks_in_names({"snapshot_1.pickle", "snapshot_0.pickle"}) == Ranks{1, 0});
  CHECK(ranks_in_names({"rank_7/memory.pickle", "rank_8/memory.pickle"}) == Ranks{7, 8});
  CHECK(ranks_in_names({"rank7/memory.pickle"}) == Ranks{std::nullopt});
  CHECK(ranks_in_names({"node1_Nov_29_18_44_44.pickle"}) == Ranks{std::nullopt});
}

TEST_CASE(
    "memory files: what a folder has of other pickles is left out, and named ones are refused") {
  const TemporaryFolder folder;
  OtherFile file{FileKind::pickle, folder.write("words.pkl", pickle(dict({{"hello", 1}})))};
  const std::string why = file.path + ": is no allocator snapshot: segments is missing, not a list";
  CHECK_THROWS_WITH_AS(read_memory_files({file}, {}), why.c_str(), NoMemoryFile);
  file.is_found = true;
  const MemoryFiles files = read_memory_files({file}, {});
  CHECK(files.notes == Lines{"left out " + why});
  CHECK_FALSE(files.has_loss());
}

TEST_CASE("memory files: one segment many times is refused, before it takes memory") {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  std::string text = "\x80\x02}(X\x08\0\0\0segments](}q\0"s;
  for (int i = 0; i < 9; ++i) text += "h\0"s;
  text += "eX\x0d\0\0\0device_traces]u."s;
  const std::string path = folder.write("rank0.pickle", text);
  const std::string why = path + ": has a segment, block or entry of its history several times";
  CHECK_THROWS_WITH_AS(read_memory_files({{FileKind::pickle, path}}, {}), why.c_str(), Error);
}

TEST_CASE("memory files: start and end of an iteration are a pair, the worst rank is first") {
  const TemporaryFolder folder;
  std::vector<OtherFile> found;
  const auto add = [&](const std::string& name, std::int64_t bytes, int device) {
    found.push_back({FileKind::pickle, folder.write(name, snapshot_text(bytes, device))});
  };
  add("cuda_alloc_rank_0.f.2.end.pickle", 7'000, 0);
  add("cuda_alloc_rank_0.f.2.start.pickle", 4'000, 0);
  add("cuda_alloc_rank_1.f.2.end.pickle", 2'000, 1);
  const MemoryFiles files = read_memory_files(found, {.threads = 2});
  REQUIRE(files.snapshots.size() == 3);
  CHECK(files.snapshots[0].function == "f");
  CHECK(files.snapshots[0].iteration == 2);
  CHECK_FALSE(files.snapshots[0].is_start);
  CHECK(files.snapshots[1].is_start);
  CHECK(files.snapshots[2].rank == 1);
  const Report report = report_of(files);
  CHECK(report.headline ==
        Lines{"Rank 0: GPU0 peaks at 9.8 KiB; x.py:1 f holds 70 % of it.",
              "Rank 0: GPU0 has 2.9 KiB more at x.py:1 f in the second snapshot than in the "
              "first."});
  CHECK(report.notes ==
        Lines{"ranks 0-1: no history: torch.cuda.memory._record_memory_history() was not on, so "
              "the peak is what was there at the end"});
  const std::vector<ReportRow> growth = rows_of(report, "growth");
  REQUIRE(growth.size() == 2);
  CHECK(number_in(growth[0], "before_bytes") == 4'000);
  CHECK(number_in(growth[0], "after_bytes") == 7'000);
  CHECK(number_in(growth[0], "difference_bytes") == 3'000);
  CHECK(number_in(growth[1], "difference_bytes") == -3'000);
  CHECK(rows_of(report, "places").size() == 4);
  CHECK(number_in(rows_of(report, "places")[0], "least_bytes") == 2'000);
}

namespace {

PickleCode history_entry(const char* action, std::int64_t address, int us) {
  return dict({{"action", action},
               {"addr", address},
               {"size", 512},
               {"time_us", us},
               {"frames", kept_stack("f")}});
}

// Allocates 512 bytes at 2500, 3500, 4500 ... us, after which a dump is taken at the next 1000.
std::string growing_text(int count, bool has_dumps) {
  std::vector<PickleCode> blocks;
  std::vector<PickleCode> entries;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(dict({{"size", 512},
                           {"requested_size", 512},
                           {"state", "active_allocated"},
                           {"frames", kept_stack("f")}}));
    entries.push_back(history_entry("alloc", 4096 + 512 * i, 2500 + 1000 * i));
    if (has_dumps) entries.push_back(history_entry("snapshot", 0, 3000 + 1000 * i));
  }
  return pickle(dict({{"segments", list({dict({{"device", 0},
                                               {"address", 4096},
                                               {"total_size", 512 * count},
                                               {"blocks", list(blocks)}})})},
                      {"device_traces", list({list(entries)})}}));
}

// Steps of 1 ms with these numbers from 2000 us on; its base is 1000 us.
std::string stepped_trace(int rank, const std::vector<int>& numbers) {
  std::string text = fmt::format(
      R"({{"baseTimeNanoseconds": 1000000, "distributedInfo": {{"rank": {}}}, "traceEvents": [)",
      rank);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format(
        R"({}{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":1000}})",
        i == 0 ? "" : ",", numbers[i], 1000 + 1000 * i);
  return text + "]}";
}

}  // namespace

TEST_CASE("memory files: steps without marks are those of the trace of the same rank") {
  const TemporaryFolder folder;
  const auto answer = [&](const std::string& text, const std::string& name, const Run* run) {
    return read_memory_files({{FileKind::pickle, folder.write(name, text)}}, {.run = run})
        .snapshots.front()
        .devices.front();
  };
  const Run run = read_texts({{"rank4.json", stepped_trace(4, {7, 8, 9})}});
  const std::string growing = growing_text(3, false);
  const MemoryAnswer found = answer(growing, "rank4.pickle", &run);
  CHECK(found.peak_step == 9);
  REQUIRE(found.leaks.size() == 1);
  CHECK(found.leaks[0].bytes_per_step == 512);
  CHECK(found.leaks[0].steps == 3);
  CHECK_FALSE(answer(growing, "rank4.pickle", nullptr).peak_step.has_value());
  const MemoryAnswer of_another = answer(growing, "rank5.pickle", &run);
  CHECK_FALSE(of_another.peak_step.has_value());
  CHECK(of_another.leaks.empty());
  // A number that is there again is another step.
  const Run again = read_texts({{"rank4.json", stepped_trace(4, {1, 2, 1, 2})}});
  const MemoryAnswer twice = answer(growing_text(4, false), "rank4.pickle", &again);
  CHECK(twice.peak_step == 2);
  REQUIRE(twice.leaks.size() == 1);
  CHECK(twice.leaks[0].steps == 4);
  CHECK(twice.leaks[0].bytes_per_step == 512);
  // A trace of one step names the peak's step, and the dumps show the leak.
  const Run one = read_texts({{"rank4.json", stepped_trace(4, {7})}});
  const MemoryAnswer of_dumps = answer(growing_text(5, true), "rank4.pickle", &one);
  CHECK_FALSE(of_dumps.peak_step.has_value());  // it is after the trace
  REQUIRE(of_dumps.leaks.size() == 1);
  CHECK(of_dumps.leaks[0].steps == 5);
}

TEST_CASE("memory files: a clock is that of the nearest trace of the rank, or none") {
  // The second trace of the rank is 100 us ahead.
  std::string later = stepped_trace(4, {10});
  later.replace(later.find("1000000"), 7, "9000100");
  const Run run = read_texts({{"a_rank4.json", stepped_trace(4, {7, 8, 9})},
                              {"b_rank4.json", later},
                              {"rank5.json", stepped_trace(5, {7})}});
  const RankClock clock(run, 4, 2'000'000, 11'000'000);
  CHECK(clock.is_known());
  CHECK(clock.at(2'500'000) == 500'000);
  CHECK(clock.at(11'000'100) == 9'000'100);
  const RankClock of_another_hour(run, 4, 3'602'000'000'000, 3'603'000'000'000);
  CHECK_FALSE(of_another_hour.is_known());
  CHECK(of_another_hour.at(3'602'500'000'000) == 500'000'000);
  CHECK_FALSE(RankClock(run, 6, 2'000'000, 11'000'000).is_known());
}

TEST_CASE("memory files: two named snapshots are a pair, also of two ranks") {
  const TemporaryFolder folder;
  const std::vector<OtherFile> found{
      {FileKind::pickle, folder.write("rank5.pickle", snapshot_text(9'000, 0)), std::nullopt, 3},
      {FileKind::pickle, folder.write("rank2.pickle", snapshot_text(9'500, 1)), std::nullopt, 4}};
  const Report report = report_of(read_memory_files(found, {}), {.base = 3});
  const std::vector<ReportRow> growth = rows_of(report, "growth");
  REQUIRE(growth.size() == 2);
  CHECK(number_in(growth[0], "rank") == 2);
  CHECK(number_in(growth[0], "difference_bytes") == 500);
}

TEST_CASE("memory files: a file that cannot be read ends the reading, or is left out") {
  const TemporaryFolder folder;
  const std::string bad = folder.write("rank0.pickle", "hello");
  const std::vector<OtherFile> found{
      {FileKind::pickle, bad},
      {FileKind::pickle, folder.write("rank1.pickle", snapshot_text(1, 0))}};
  const std::string why = bad + ": byte 0: is no pickle of protocol 2 to 5";
  CHECK_THROWS_WITH_AS(read_memory_files(found, {}), why.c_str(), Error);
  const MemoryFiles files = read_memory_files(found, {.keep_going = true});
  CHECK(files.snapshots.size() == 1);
  CHECK(files.errors == Lines{"left out " + why});
}

TEST_CASE("memory files: failures in memory stats come with their rank") {
  MemoryFiles files;
  files.stats.push_back({.path = "s"});
  files.stats[0].snapshots.push_back({3, "f", 1, true, {{"num_ooms", 2}, {"rss", 5}}});
  CHECK(report_of(files).headline == Lines{"Rank 3: num_ooms is 2 in its memory stats."});
}
