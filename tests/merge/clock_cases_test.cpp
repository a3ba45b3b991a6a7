// These are the cases of clocks, ranks and GPU rows that a merge has to get right, one by one.
#include "base/problems.h"
#include "support/merge_texts.h"
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kUnitNs = 7'889'238'000'000'000;

MergeSummary summary_of(const NamedTexts& files) {
  const TemporaryFolder folder;
  return merge_traces(merge_options(folder, files, "merged.json"));
}

// Returns "1:gemm@1500" for every event: rank, name and common time in ns.
std::vector<std::string> shown(const std::string& merged) {
  std::vector<std::string> lines;
  for (const oracle::MergedEvent& event : read_merged(merged))
    lines.push_back(fmt::format("{}:{}@{}", event.rank, event.name, event.ts_ns));
  return lines;
}

using Lines = std::vector<std::string>;

std::string torch(const TraceText& events, int rank, std::int64_t base_ns = 0) {
  std::string members =
      fmt::format("\"schemaVersion\": 1, \"distributedInfo\": {{\"rank\": {}}}", rank);
  if (base_ns != 0) members += fmt::format(", \"baseTimeNanoseconds\": {}", base_ns);
  return events.object(members);
}

}  // namespace

TEST_CASE(
    "format case 21: Unix times with decimals and times since a base meet to the nanosecond") {
  const std::string merged =
      merge_texts({{"rank0.json", torch(TraceText().x("gemm", "1712195495406752.812", 5), 0)},
                   {"rank1.json", torch(TraceText().x("gemm", "1995495406752.812", 5), 1,
                                        1'710'200'000'000'000'000)}});
  CHECK(shown(merged) == Lines{"0:gemm@1712195495406752812", "1:gemm@1712195495406752812"});
}

TEST_CASE("format case 22: bases that differ by one unit are 7889238 s apart") {
  const std::string merged = merge_texts(
      {{"rank0.json", torch(TraceText().x("gemm", "7889237999999.001", 5), 0, 226 * kUnitNs)},
       {"rank1.json", torch(TraceText().x("gemm", "0.001", 5), 1, 227 * kUnitNs)}});
  CHECK(shown(merged) == Lines{"0:gemm@1790857025999999001", "1:gemm@1790857026000000001"});
}

TEST_CASE("format case 23: a Composer file's torch events lie among its own") {
  // Rank 1 is 3 ms ahead; torch started it on the other side of a unit's end.
  const auto file = [](int rank, std::int64_t ahead_us, std::int64_t units) {
    const std::int64_t now_us = 1'790'857'026'000'100 + ahead_us;
    const std::int64_t torch_us = now_us - units * (kUnitNs / 1000);
    return TraceText()
        .pid(std::to_string(rank))
        .tid("200")
        .x("aten::add", (std::to_string(torch_us + 50) + ".125").c_str(), "3.5")
        .composer_rank(rank, std::to_string(now_us))
        .b("event/batch", now_us + 40)
        .e("event/batch", now_us + 90)
        .b("event/fit", now_us + 95)
        .array();
  };
  const NamedTexts files{{"ep0-ba1-rank0.json", file(0, 0, 227)},
                         {"ep0-ba1-rank1.json", file(1, 3000, 226)}};
  const std::string merged = merge_texts(files);
  CHECK(shown(merged) ==
        Lines{"0:event/batch@1790857026000140000", "0:aten::add@1790857026000150125",
              "0:event/fit@1790857026000195000", "1:event/batch@1790857026000140000",
              "1:aten::add@1790857026000150125", "1:event/fit@1790857026000195000"});
  for (const oracle::MergedEvent& event : read_merged(merged)) {
    if (event.name == "aten::add") CHECK(event.duration_ns == 3500);
    if (event.name == "event/batch") CHECK(event.duration_ns == 50'000);
    if (event.name == "event/fit") CHECK(event.duration_ns == 0);  // the last event of its file
  }
  CHECK(base_of(merged) == "1790857026000140000");
  const MergeSummary summary = summary_of(files);
  CHECK(summary.files[0].clock.method == ClockMethod::sync);
  CHECK(summary.files[1].clock.offset_ns == -3'000'000);
  CHECK(summary.files[0].problems.explanation(Problem::base_restored) ==
        "1790857026 s (227 x 7889238 s), by the Unix times of the same file");
  CHECK(summary.files[1].problems.explanation(Problem::base_restored) ==
        "1782967788 s (226 x 7889238 s), by the Unix times of the same file");
  // Two passes, and Composer's own merger, give the same.
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "merged.json");
  options.always_survey = true;
  merge_traces(options);
  CHECK(without_other_data(read_file(options.output)) == without_other_data(merged));
  CHECK(without_other_data(merge_texts({{"merged.json", merged}})) == without_other_data(merged));
}

TEST_CASE("format case 23: torch times that fit no base stay together, at the clock sync") {
  const NamedTexts files{{"rank0.json", TraceText()
                                            .composer_rank(0, "1795202302559745")
                                            .x("aten::add", 82, 3)
                                            .x("aten::mul", 182, 3)
                                            .i("fit", 1'795'202'302'550'000)
                                            .array()}};
  CHECK(shown(merge_texts(files)) == Lines{"0:fit@1795202302550000000",
                                           "0:aten::add@1795202302559745000",
                                           "0:aten::mul@1795202302559845000"});
  CHECK(summary_of(files).files[0].problems.count(Problem::base_guessed) == 1);
}

TEST_CASE("format case 23: a torch file without its base goes by another rank's") {
  const NamedTexts files{
      {"rank0.json", torch(TraceText().x("gemm", "7889237999999.001", 5), 0, 226 * kUnitNs)},
      {"rank1.json", torch(TraceText().x("gemm", "0.001", 5), 1)}};
  CHECK(shown(merge_texts(files)) ==
        Lines{"0:gemm@1790857025999999001", "1:gemm@1790857026000000001"});
  CHECK(summary_of(files).files[1].clock.method == ClockMethod::base);
}

TEST_CASE("format case 24: a base behind the events is read to the last digit") {
  const TraceText events = TraceText().x("gemm", "0.001", 5);
  std::string text = events.object("\"schemaVersion\": 1");
  text.replace(text.rfind('}'), 1, ", \"baseTimeNanoseconds\": 1767189312000000003}");
  CHECK(shown(merge_texts({{"rank0.json", text}})) == Lines{"0:gemm@1767189312000000004"});
}

TEST_CASE("format case 25: one pid a rank, and no two threads on one row") {
  const auto x = [](TraceText& text, std::string_view pid, std::string_view tid,
                    std::string_view cat, std::string_view args = "") {
    text.pid(pid).tid(tid).cat(cat).x("slice", 10, 5, args);
  };
  TraceText text;
  x(text, "1166", "7", "cpu_op");
  x(text, "1166", "7", "cpu_op");
  for (int gpu = 0; gpu < 8; ++gpu)
    x(text, std::to_string(gpu), "7", "kernel", fmt::format(R"({{"device": {}}})", gpu));
  x(text, R"("Spans")", R"("PyTorch Profiler")", "Trace");
  x(text, R"("Traces")", R"("Trace PyTorch Profiler")", "Trace");
  x(text, R"("")", R"("")", "Trace");
  x(text, "-1", "0", "overhead");
  const std::string own = torch(text, 3);
  // Composer writes the same with the rank as pid.
  std::string folded = text.composer_rank(3, "40").array();
  for (std::size_t at = 0; (at = folded.find("\"pid\": ", at)) != std::string::npos; ++at)
    folded.replace(at + 7, folded.find(", \"tid", at) - at - 7, "3");
  for (const std::string& file : {own, folded}) {
    std::map<std::string, int> events_of_row;
    for (const oracle::Json& event : events_of(merge_texts({{"rank3.json", file}}))) {
      CHECK(text_of(event, "pid") == "3");
      if (text_of(event, "ph") != "M") ++events_of_row[text_of(event, "tid")];
    }
    CHECK(events_of_row.size() == 13);
    CHECK(events_of_row["7"] == 2);
    CHECK(events_of_row["0"] == 0);
  }
}

TEST_CASE("format case 29: two ranks with one correlation id have an arrow each") {
  const auto file = [](int rank) {
    TraceText text = TraceText().pid("60").tid("60").cat("cuda_runtime");
    text.x("launch", 10, 5).cat("ac2g").with_id("s", "ac2g", 10, "7");
    text.pid("0").tid("7").cat("kernel").x("gemm", 20, 5);
    return torch(text.cat("ac2g").with_id("f", "ac2g", 20, "7"), rank);
  };
  std::map<std::string, std::string> ends_of_id;
  for (const oracle::Json& event :
       events_of(merge_texts({{"rank0.json", file(0)}, {"rank1.json", file(1)}})))
    if (event.find("id") != nullptr)
      ends_of_id[text_of(event, "id")] += text_of(event, "ph") + text_of(event, "pid");
  CHECK(ends_of_id == std::map<std::string, std::string>{{"7", "s0f0"}, {"17", "s1f1"}});
}

TEST_CASE("format case 30: the cycles of a rank keep their arrows apart") {
  const auto file = [](std::int64_t start_us) {
    return TraceText()
        .composer_rank(0, std::to_string(start_us))
        .x("a", start_us, 5)
        .with_id("s", "flow", start_us, "7")
        .x("b", start_us + 10, 5)
        .with_id("f", "flow", start_us + 10, "7")
        .array();
  };
  std::map<std::string, std::string> ends_of_id;
  for (const oracle::Json& event :
       events_of(merge_texts({{"ep0-ba1-rank0.json", file(1'795'202'302'000'000)},
                              {"ep0-ba9-rank0.json", file(1'795'202'303'000'000)}})))
    if (event.find("id") != nullptr)
      ends_of_id[text_of(event, "id")] += text_of(event, "ph") + text_of(event, "ts") + " ";
  CHECK(ends_of_id ==
        std::map<std::string, std::string>{{"7", "s0 f10 "}, {"17", "s1000000 f1000010 "}});
}

TEST_CASE("format case 41: files that share a clock sync event meet there") {
  const auto file = [](std::string_view ts, std::string_view issue_ts) {
    return TraceText()
        .raw(fmt::format(R"({{"ph": "c", "name": "clock_sync", "ts": {}, "pid": 1, "tid": 1, )"
                         R"("args": {{"sync_id": "A"{}}}}})",
                         ts, issue_ts))
        .x("work", ts.data(), 5)
        .compact();
  };
  const NamedTexts files{{"rank0.json", file("100.5", R"(, "issue_ts": 98.5)")},
                         {"rank1.json", file("7000", "")}};
  const std::string merged = merge_texts(files);
  CHECK(shown(merged) ==
        Lines{"0:work@100500", "0:clock_sync@100500", "1:work@99500", "1:clock_sync@99500"});
  for (const oracle::Json& event : events_of(merged)) CHECK(text_of(event, "ph") != "c");
  const MergeSummary summary = summary_of(files);
  CHECK(summary.files[1].clock.method == ClockMethod::sync_event);
  CHECK(summary.files[1].clock.offset_ns == -6'900'500);
  CHECK(summary.files[1].clock.error_ns == 2000);
}

TEST_CASE("format case 48: two files that claim a rank at the same time are refused") {
  const auto file = [](int rank) {
    return TraceText()
        .composer_rank(rank, "1795202302559745")
        .x("a", 1'795'202'302'559'750, 5)
        .x("b", 1'795'202'302'559'850, 5);
  };
  const NamedTexts twice{{"ba1-rank0.json", file(0).array()},
                         {"ba2-rank0.json", file(0).x("c", 1'795'202'302'559'950, 5).array()}};
  std::string message;
  try {
    merge_texts(twice);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("rank 0 has the same threads at the same time in ") != std::string::npos);
  CHECK(message.find("ba1-rank0.json") != std::string::npos);
  CHECK(message.find("ba2-rank0.json") != std::string::npos);
}

TEST_CASE("format case 48: a rank that two sources tell differently is the stronger one's") {
  const NamedTexts files{
      {"rank3.json",
       TraceText().composer_rank(2, "1795202302559745").x("a", 1'795'202'302'559'750, 5).array()}};
  CHECK(shown(merge_texts(files)) == Lines{"2:a@1795202302559750000"});
  CHECK(summary_of(files).files[0].problems.explanation(Problem::rank_disagrees) ==
        "2 by global_rank event, not 3 by file name");
}

TEST_CASE("format case 49: a rank without a clock beside others that have one is refused") {
  const NamedTexts files{
      {"rank0.json",
       TraceText().composer_rank(0, "1795202302559745").x("a", 1'795'202'302'559'750, 5).array()},
      {"rank3.json", TraceText().x("a", 17, 5).array()}};
  std::string message;
  try {
    merge_texts(files);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("rank3.json: rank 3 has no clock sync and no base time, while other files "
                     "have; give --offset 3=0") != std::string::npos);
  CHECK(shown(merge_texts(files, 1, AlignBy::none)) ==
        Lines{"0:a@1795202302559750000", "3:a@17000"});
}

TEST_CASE("format case 50: a merged file is recognised, by whomever it was merged") {
  const auto file = [](int rank, std::int64_t sync_us) {
    return TraceText()
        .pid(std::to_string(rank))
        .composer_rank(rank, std::to_string(sync_us))
        .x("a", sync_us + 5, 5)
        .with_id("s", "flow", sync_us + 5, "7");
  };
  const std::string once = merge_texts({{"rank0.json", file(0, 1'795'202'302'559'745).array()},
                                        {"rank1.json", file(1, 1'795'202'399'000'000).array()}});
  CHECK(without_other_data(merge_texts({{"merged.json", once}})) == without_other_data(once));
  // Composer's merger shifts the times and leaves the syncs.
  const std::string composers = TraceText()
                                    .pid("0")
                                    .composer_rank(0, "1795202302559745")
                                    .x("a", 1'795'202'302'559'750, 5)
                                    .pid("1")
                                    .composer_rank(1, "1795202399000000")
                                    .x("a", 1'795'202'302'559'750, 5)
                                    .array();
  const Lines both{"0:a@1795202302559750000", "1:a@1795202302559750000"};
  CHECK(shown(merge_texts({{"merged_trace.json", composers}})) == both);
  CHECK(summary_of({{"merged_trace.json", composers}}).files[0].clock.method == ClockMethod::sync);
}

TEST_CASE("clock_cases: times that a viewer rounds are counted") {
  using Counts = std::pair<std::uint64_t, std::uint64_t>;  // with decimals, whole
  const auto count = [](const TraceText& text, OriginKind origin) {
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, {{"rank0.json", text.array()}}, "merged.json");
    options.plan.origin = origin;
    const ProblemCounts problems = merge_traces(options).files[0].problems;
    return Counts{problems.count(Problem::inexact_timestamp),
                  problems.count(Problem::far_timestamp)};
  };
  TraceText text;
  text.x("whole", "4398046511104", 1).x("before", "4398046511103.999", 1);
  CHECK(count(text, OriginKind::keep) == Counts{0, 1});
  text.x("at", "4398046511104.001", 1).b("begin", "4398046511105.5").e("begin", "4398046511106.5");
  CHECK(count(text, OriginKind::keep) == Counts{2, 1});
  CHECK(count(text, OriginKind::first_event) == Counts{0, 0});
  // The origin is 1 us, which takes the whole one below 2^42. One event there would be an outlier.
  for (int i = 0; i < 3; ++i) text.x("first", "1", 1);
  CHECK(count(text, OriginKind::first_event) == Counts{1, 0});
  for (int i = 0; i < 3; ++i) text.x("far", "9000000000000", 1);
  CHECK(count(text, OriginKind::first_event) == Counts{1, 3});
}

TEST_CASE("clock_cases: events 292 years apart do not fit one clock, and are told") {
  const MergedCase merged(
      R"([{"ph":"X","name":"a","ts":-9223372036854775.807,"dur":1,"pid":1,"tid":1},)"
      R"({"ph":"X","name":"b","ts":5,"dur":1,"pid":1,"tid":1}])");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"b","ts":0,"dur":1,"pid":0,"tid":1})"});
  CHECK(merged.problems() == Texts{"outlying_timestamp 1 at 1"});
  // The smallest int64 has no place either.
  const MergedCase least(
      R"([{"ph":"X","name":"b","ts":-9223372036854775.808,"dur":1,"pid":1,"tid":1}])");
  CHECK(least.events().empty());
  CHECK(least.problems() == Texts{"outlying_timestamp 1 at 1"});
}

TEST_CASE("clock_cases: the end of a begin that is too far off closes nothing else") {
  const MergedCase merged(R"([{"ph":"B","name":"a","ts":1795202294140000,"pid":1,"tid":1},)"
                          R"({"ph":"B","name":"b","ts":-8000000000000000,"pid":1,"tid":1},)"
                          R"({"ph":"E","name":"b","ts":1795202294140010,"pid":1,"tid":1},)"
                          R"({"ph":"E","name":"a","ts":1795202294140020,"pid":1,"tid":1}])");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"a","ts":0, "dur": 20,"pid":0,"tid":1})"});
  CHECK(merged.problems() == Texts{"outlying_timestamp 1 at 61"});
}
