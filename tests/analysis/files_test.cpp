#include "analysis/reports/reports.h"
#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace traceloom;

TEST_CASE("info: a file is told by its producer, rank, phases and span") {
  const Run run = read_texts({{"a.json", TraceText()
                                             .composer_rank(3, "1000")
                                             .b("event/fit", 5)
                                             .e("event/fit", 30)
                                             .x("f", 10, 5)
                                             .array()}});
  const Report report = info_report(run);
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(number_in(row, "rank") == 3);
  CHECK(text_in(row, "rank_source") == "global_rank event");
  CHECK(text_in(row, "producer") == "Composer");
  CHECK(text_in(row, "phases") == "B 1, E 1, M 2, X 1");
  CHECK(number_in(row, "events") == 3);  // as a merge says: metadata is none
  CHECK(number_in(row, "span_ns") == 25'000);
  CHECK(number_in(rows_of(report, "ranks").at(0), "host_spans") == 1);
}

TEST_CASE("info: our recorder is told from Composer by its clock_pairs") {
  const std::string pair =
      R"({"name": "clock_pairs", "ph": "M", "ts": 1795589123768191.413, "pid": 1, "tid": 1,
          "args": {"when": "start", "mono": 716831122157, "bracket_ns": 50}})";
  const Run run = read_texts(
      {{"a.json", TraceText().composer_rank(3, "1000").raw(pair).x("f", 10, 5).array()}});
  const ReportRow row = rows_of(info_report(run), "rows").at(0);
  CHECK(text_in(row, "producer") == "traceloom recorder");
}

TEST_CASE("info: devices and spans of a rank are counted") {
  const Run run = read_texts(
      {{"rank1.json", TraceText()
                          .cat("kernel")
                          .x("k", 0, 5, R"({"device": 0})")
                          .x("k", 0, 5, R"({"device": 1})")
                          .object(R"("schemaVersion": 1, "distributedInfo": {"rank": 1})")}});
  const Report report = info_report(run);
  CHECK(text_in(rows_of(report, "rows").at(0), "producer") == "torch.profiler");
  const ReportRow rank = rows_of(report, "ranks").at(0);
  CHECK(number_in(rank, "rank") == 1);
  CHECK(number_in(rank, "devices") == 2);
  CHECK(number_in(rank, "device_spans") == 2);
  const ReportRow category = rows_of(report, "categories").at(0);
  CHECK(text_in(category, "category") == "kernel");
  CHECK(number_in(category, "total_ns") == 10'000);
}

TEST_CASE("info: files stand in the order of their ranks, in whatever order they were given") {
  JobTraces::Files files = JobTraces{.ranks = 12}.torch();
  files.emplace_back("rank2-again.json", TraceText().composer_rank(2, "1000").array());
  const auto paths = [](const Run& run) {
    std::vector<std::string> names;
    for (const RunFile& file : run.files)
      names.push_back(file.path.substr(file.path.rfind('/') + 1));
    return names;
  };
  const std::vector<std::string> first = paths(read_texts(files));
  CHECK(first.at(2) == "rank2-again.json");
  CHECK(first.at(3) == "rank2.json");
  CHECK(first.back() == "rank11.json");
  std::reverse(files.begin(), files.end());
  CHECK(paths(read_texts(files)) == first);
}

TEST_CASE("info: no rank that is asked for is told with those that there are") {
  const Run run = read_texts(JobTraces{}.torch(), {.ranks = {{7, 9}}});
  CHECK(run.ranks.empty());
  CHECK(steps_report(run, {}).notes.at(0) ==
        "no rank is left to look at: these traces are of ranks 0-3");
}

TEST_CASE("check: losses come first and make the answer no") {
  const Run run = read_texts({{"rank0.json", TraceText().x("a", 0, -5).e("b", 3).array()},
                              {"rank1.json", TraceText().x("a", 0, 1).array()}});
  const CheckAnswer answer = check_report(run);
  const std::vector<ReportRow> rows = rows_of(answer.report, "rows");
  REQUIRE(rows.size() >= 2);
  bool loss_ended = false;
  for (const ReportRow& row : rows) {
    const bool loss = text_in(row, "severity") == "loss";
    CHECK_FALSE((loss && loss_ended));
    loss_ended |= !loss;
  }
  CHECK(answer.has_loss == (text_in(rows.front(), "severity") == "loss"));
}

TEST_CASE("check: a file without problems has no row") {
  const CheckAnswer answer =
      check_report(read_texts({{"rank0.json", TraceText().x("a", 0, 1).array()}}));
  CHECK(rows_of(answer.report, "rows").empty());
  CHECK_FALSE(answer.has_loss);
  CHECK(answer.report.headline.at(0) == "1 file: 0 with loss, 0 with problems");
}
