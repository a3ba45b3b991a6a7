#include "analysis/job/job_reports.h"
#include "analysis/mesh/bubbles.h"
#include "analysis/mesh/by_mesh.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

std::string header(int rank, int world, const char* groups) {
  return fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": {}, "pg_config": [{}]}})",
                     rank, world, groups);
}

constexpr const char* kStages =
    R"({"pg_name": "p", "pg_desc": "PIPELINE_MODEL_PARALLEL_GROUP", "ranks": [0, 1]})";

std::string message(const char* name, const char* end, int peer, int correlation) {
  return fmt::format(
      R"({{"stream": 40, "correlation": {}, "Collective name": "{}", "In msg nelems": 500,)"
      R"( "dtype": "BFloat16", "Group size": 2, "Process Group Name": "p",)"
      R"( "Process Group Description": "PIPELINE_MODEL_PARALLEL_GROUP",)"
      R"( "Process Group Ranks": "[0, 1]", "{} Rank": {}}})",
      correlation, name, end, peer);
}

TraceText step() {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100);
  return trace;
}

void compute(TraceText& trace, const char* name, int at, int length, int correlation) {
  trace.cat("kernel").x(name, at, length,
                        fmt::format(R"({{"stream": 7, "correlation": {}}})", correlation));
}

// Two stages with one micro-batch: rank 0 waits for rank 1 in both messages.
Run two_stages() {
  TraceText first = step();
  compute(first, "forward", 0, 20, 1);
  first.x("ncclDevKernel_SendRecv", 20, 20, message("send", "Dst", 1, 2));
  first.x("ncclDevKernel_SendRecv", 60, 20, message("recv", "Src", 1, 3));
  compute(first, "backward", 80, 20, 4);
  TraceText second = step();
  second.x("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 10);
  second.cat("kernel").x("ncclDevKernel_SendRecv", 30, 10, message("recv", "Src", 0, 1));
  compute(second, "backward", 40, 30, 2);
  second.x("ncclDevKernel_SendRecv", 70, 10, message("send", "Dst", 0, 3));
  return read_texts({{"rank0.json", first.object(header(0, 2, kStages))},
                     {"rank1.json", second.object(header(1, 2, kStages))}});
}

}  // namespace

TEST_CASE("bubbles: each instant of a step goes to the first part that has it") {
  const Report report = bubbles_report(two_stages());
  const std::vector<ReportRow> stages = rows_of(report, "stages");
  REQUIRE(stages.size() == 2);
  CHECK(number_in(stages[0], "step_ns") == 100'000);
  CHECK(share_in(stages[0], "compute_share") == doctest::Approx(0.4));
  CHECK(share_in(stages[0], "message_moving_share") == doctest::Approx(0.2));
  CHECK(share_in(stages[0], "message_waiting_share") == doctest::Approx(0.2));
  CHECK(share_in(stages[0], "idle_share") == doctest::Approx(0.2));
  CHECK(share_in(stages[0], "bubble_share") == doctest::Approx(0.6));
  CHECK(share_in(stages[0], "waiting_share") == doctest::Approx(0.4));
  CHECK(share_in(stages[1], "compute_share") == doctest::Approx(0.3));
  CHECK(share_in(stages[1], "message_moving_share") == doctest::Approx(0.2));
  CHECK(share_in(stages[1], "message_waiting_share") == doctest::Approx(0));
  CHECK(share_in(stages[1], "loader_share") == doctest::Approx(0.1));
  CHECK(share_in(stages[1], "idle_share") == doctest::Approx(0.4));
  CHECK(report.headline ==
        std::vector<std::string>{
            "A mean step takes 100.000 us: 35.0 % computing, 60.0 % bubble, 40.0 % waiting."});
  CHECK(report.notes.front() ==
        "what holds up the job is not known: the launches of 100.0 % of the device work are not "
        "known");
  const ReportRow link = rows_of(report, "links").at(0);
  CHECK(number_in(link, "from") == 0);
  CHECK(number_in(link, "mean_transfer_ns") == 10'000);
  CHECK(number_in(link, "mean_wait_ns") == 10'000);
  CHECK(share_in(link, "gbps") == doctest::Approx(0.1));
  const std::vector<ReportRow> grid = rows_of(report, "grid");
  CHECK(text_in(grid.at(0), "order") == "F0 B0");
  CHECK(text_in(grid.at(1), "order") == "F0 B0");
}

TEST_CASE("bubbles: a rank without device work is left out where others have some") {
  TraceText device = step();
  compute(device, "forward", 0, 60, 1);
  TraceText host = step();
  host.cat("cpu_op").x("aten::mm", 0, 2);
  const Report report =
      bubbles_report(read_texts({{"rank0.json", device.object()}, {"rank1.json", host.object()}}));
  CHECK(rows_of(report, "ranks").size() == 1);
  CHECK(report.headline.at(0) ==
        "A mean step takes 100.000 us: 60.0 % computing, 40.0 % idle. No rank here communicates, "
        "so none waits for another; trace-stats bottleneck says what limits it.");
  CHECK(report.notes.at(0) == "rank 1: no device activity, unlike others: left out");
}

TEST_CASE("bubbles: by stage, no table says the same twice") {
  const Run run = two_stages();
  const auto tables_by = [&](MeshPart part) {
    Report report = bubbles_report(run);
    group_ranks(report, run, part);
    std::string text;
    for (const ReportTable& table : report.tables)
      text += fmt::format("{} {}; ", table.key, table.table.columns().front().key);
    return text;
  };
  CHECK(tables_by(MeshPart::stage) == "stages stage; links from; grid stage; ");
  CHECK(tables_by(MeshPart::dp) == "stages stage; ranks dp; links from; grid stage; ");
}

TEST_CASE("bubbles: waiting is not known where the other ends of messages are not") {
  TraceText trace = step();
  compute(trace, "forward", 0, 50, 1);
  trace.x("ncclDevKernel_SendRecv", 50, 50, R"({"stream": 40, "correlation": 2})");
  const Report report =
      bubbles_report(read_texts({{"rank0.json", trace.object(header(0, 2, kStages))}}));
  const ReportRow stage = rows_of(report, "stages").at(0);
  CHECK(share_in(stage, "bubble_share") == doctest::Approx(0.5));
  CHECK(cell_in(stage, "waiting_share") == Cell{});
  CHECK(
      report.notes.front() ==
      "100.0 % of the communication that no computing hides is in pieces of which the other ranks "
      "are not known: they move data or wait, so the waiting is not known");
}
