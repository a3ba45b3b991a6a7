#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const ReportRow& row : rows_of(report, "rows")) names.push_back(text_in(row, "name"));
  return names;
}

// Two steps of a rank, from `start_us` on, with an operator, a call and a kernel.
std::string steps_from(int start_us, int longer_us) {
  TraceText trace;
  trace.tid("7").cat("user_annotation");
  trace.x("ProfilerStep#4", start_us, 100).x("ProfilerStep#5", start_us + 100, 100);
  trace.cat("cpu_op").x("aten::mm", start_us + 110, 20 + longer_us);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", start_us + 112, 3, R"({"correlation": 1})");
  trace.tid("31").cat("kernel").x("gemm", start_us + 120, 30 + longer_us,
                                  R"({"device": 2, "stream": 31, "correlation": 1})");
  return trace.array();
}

}  // namespace

TEST_CASE("longest: spans of all ranks with rank, step, start, thread and device") {
  const Run run =
      read_texts({{"rank0.json", steps_from(1000, 0)}, {"rank1.json", steps_from(1000, 5)}});
  const Report report = longest_report(run, {.top = 3});
  CHECK(names_of(report) == std::vector<std::string>{"gemm", "gemm", "aten::mm"});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  CHECK(number_in(rows[0], "rank") == 1);
  CHECK(number_in(rows[0], "duration_ns") == 35'000);
  CHECK(number_in(rows[0], "start_ns") == 120'000);
  CHECK(number_in(rows[0], "step") == 5);
  CHECK(number_in(rows[0], "device") == 2);
  CHECK(number_in(rows[0], "stream") == 31);
  CHECK(cell_in(rows[0], "thread") == Cell{});
  CHECK(text_in(rows[0], "category") == "kernel");
  CHECK(number_in(rows[1], "rank") == 0);
  CHECK(number_in(rows[1], "duration_ns") == 30'000);
  CHECK(number_in(rows[2], "rank") == 1);
  CHECK(number_in(rows[2], "duration_ns") == 25'000);
  CHECK(text_in(rows[2], "thread") == "7");
  CHECK(cell_in(rows[2], "device") == Cell{});
  CHECK(cell_in(rows[2], "stream") == Cell{});
}

TEST_CASE("longest: spans around others only with frames, and spans outside of steps have none") {
  const std::string text = steps_from(1000, 0);
  CHECK(names_of(longest_report(read_texts({{"rank0.json", text}}), {})) ==
        std::vector<std::string>{"gemm", "aten::mm", "cudaLaunchKernel"});
  const Run run = read_texts({{"rank0.json", text}}, {.frames = true});
  CHECK(names_of(longest_report(run, {})) ==
        std::vector<std::string>{"ProfilerStep#4", "ProfilerStep#5", "gemm", "aten::mm",
                                 "cudaLaunchKernel"});
  const std::string unmarked = TraceText().cat("cpu_op").x("aten::add", 0, 5).array();
  const Report report = longest_report(read_texts({{"rank0.json", unmarked}}), {});
  CHECK(cell_in(rows_of(report, "rows").at(0), "step") == Cell{});
}

TEST_CASE("longest: spans of one length stand in the order of begin, rank and name") {
  TraceText trace;
  trace.cat("cpu_op")
      .x("late", 20, 5)
      .tid("2")
      .x("b", 10, 5)
      .tid("3")
      .x("a", 10, 5)
      .x("short", 0, 4);
  const Run run = read_texts({{"rank1.json", trace.array()}, {"rank0.json", trace.array()}});
  const Report report = longest_report(run, {.top = 5});
  CHECK(names_of(report) == std::vector<std::string>{"a", "b", "a", "b", "late"});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  CHECK(number_in(rows[1], "rank") == 0);
  CHECK(number_in(rows[2], "rank") == 1);
  CHECK(number_in(rows[4], "rank") == 0);
}

TEST_CASE("longest: a run without spans has a note") {
  const Report report =
      longest_report(read_texts({{"rank0.json", TraceText().i("mark", 1).array()}}), {});
  CHECK(rows_of(report, "rows").empty());
  CHECK(report.notes == std::vector<std::string>{"no spans in these traces"});
}
