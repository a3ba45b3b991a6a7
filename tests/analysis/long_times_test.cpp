// Spans as long as possible: sums of them are cut to the limit of int64 nanoseconds.
#include "analysis/reports/bottleneck_report.h"
#include "analysis/reports/comm_report.h"
#include "analysis/reports/dataloader_report.h"
#include "analysis/reports/gpu_report.h"
#include "analysis/reports/host_report.h"
#include "analysis/reports/idle_report.h"
#include "analysis/reports/info_report.h"
#include "analysis/reports/kernels_report.h"
#include "analysis/reports/launch_report.h"
#include "analysis/reports/memcpy_report.h"
#include "analysis/reports/ops_report.h"
#include "analysis/reports/steps_report.h"
#include "analysis/reports/stragglers_report.h"
#include "analysis/reports/tree_report.h"
#include "base/arithmetic.h"
#include "event/event_timing.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongUs = kLongestDurationNs / 1000;
constexpr std::int64_t kLongNs = kLongUs * 1000;

// Three threads and three streams on each of two devices, all busy for 146 years.
std::string long_trace() {
  TraceText trace;
  for (int i = 1; i <= 3; ++i) {
    const std::string thread = std::to_string(i);
    const std::string call = fmt::format(R"({{"correlation": {0}, "External id": {0}}})", i);
    const std::string copy = fmt::format(R"({{"correlation": {}}})", 10 + i);
    trace.tid(thread).cat("python_function").x("run.py(1): main", 0, kLongUs);
    trace.cat("user_annotation").x("enumerate(DataLoader)#It.__next__", 0, kLongUs);
    trace.cat("cpu_op").x("aten::mm", 0, kLongUs, fmt::format(R"({{"External id": {}}})", i));
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 1, kLongUs - 2, call);
    trace.tid("1" + thread).x("cudaMemcpyAsync", 1, kLongUs - 2, copy);
    for (int device = 0; device < 2; ++device) {
      const std::string where = fmt::format(R"("device": {}, "stream": {})", device, i);
      trace.tid(fmt::format("{}{}", 7 + device, i)).cat("kernel");
      trace.x("gemm", 2, kLongUs - 3, fmt::format(R"({{{}, "correlation": {}}})", where, i));
      trace.cat("gpu_memcpy")
          .x("Memcpy HtoD", 2, kLongUs - 3,
             fmt::format(R"({{{}, "correlation": {}, "bytes": {}}})", where, 10 + i, kMost));
    }
    trace.tid("99").cat("kernel").x(
        "ncclDevKernel_AllReduce", i, kLongUs - 3,
        fmt::format(R"({{"device": 0, "stream": 9, "Collective name": "allreduce",)"
                    R"( "Process Group Name": "0", "Seq": {}, "Group size": 2}})",
                    i));
  }
  trace.tid("1").cat("user_annotation").x("ProfilerStep#1", 0, kLongUs);
  return trace.array();
}

Run read_long_times() {
  return read_texts({{"rank0.json", long_trace()}, {"rank1.json", long_trace()}},
                    {.details = true, .arguments = true, .frames = true});
}

// A sum that overflows is mostly one below 0.
void check_none_below_zero(const Report& report) {
  for (const ReportTable& part : report.tables)
    for (const std::vector<Cell>& cells : part.table.rows())
      for (std::size_t i = 0; i < cells.size(); ++i) {
        CAPTURE(part.key);
        CAPTURE(part.table.columns()[i].key);
        if (const auto* number = std::get_if<std::int64_t>(&cells[i])) CHECK(*number >= 0);
        if (const auto* number = std::get_if<double>(&cells[i])) CHECK(*number >= 0);
      }
}

}  // namespace

TEST_CASE("saturating: sums and differences stop at the greatest and the least number") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK(saturating_add(3, -5) == -2);
  CHECK(saturating_add(kMost, 1) == kMost);
  CHECK(saturating_add(kLeast, -1) == kLeast);
  CHECK(saturating_add(kMost, kLeast) == -1);
  CHECK(saturating_subtract(3, 5) == -2);
  CHECK(saturating_subtract(kMost, -1) == kMost);
  CHECK(saturating_subtract(kLeast, 1) == kLeast);
  CHECK(saturating_subtract(0, kLeast) == kMost);
  std::int64_t sum = kMost - 1;
  add_to(sum, 5);
  CHECK(sum == kMost);
}

TEST_CASE("long times: no sum of any command overflows") {
  const Run run = read_long_times();
  check_none_below_zero(info_report(run));
  check_none_below_zero(steps_report(run, {.raw = true}));
  check_none_below_zero(bottleneck_report(run).report);
  check_none_below_zero(dataloader_report(run));
  check_none_below_zero(stragglers_report(run));
  check_none_below_zero(gpu_report(run));
  check_none_below_zero(kernels_report(run, {}));
  check_none_below_zero(memcpy_report(run, {}));
  check_none_below_zero(ops_report(run, {}));
  check_none_below_zero(idle_report(run, {}));
  check_none_below_zero(launch_report(run, {}));
  check_none_below_zero(tree_report(run, {}));
  check_none_below_zero(comm_report(run, {}));
  check_none_below_zero(host_report(run, {}));
}

TEST_CASE("long times: the mean of a step is its own, and totals are the greatest there are") {
  const Run run = read_long_times();
  const ReportRow step = rows_of(steps_report(run, {}), "summary").at(0);
  CHECK(number_in(step, "total_ns") == kLongNs);
  const ReportRow copies = rows_of(memcpy_report(run, {}), "rows").at(0);
  CHECK(number_in(copies, "total_ns") == kMost);
  CHECK(number_in(copies, "bytes") == kMost);
  CHECK(number_in(copies, "mean_ns") == kLongNs - 3000);
  for (const ReportRow& kernel : rows_of(kernels_report(run, {}), "rows")) {
    CHECK(number_in(kernel, "total_ns") == kMost);
    CHECK(number_in(kernel, "mean_ns") == kLongNs - 3000);
    CHECK(number_in(kernel, "stddev_ns") == 0);
  }
  const ReportRow mm = rows_of(ops_report(run, {}), "rows").at(0);
  CHECK(number_in(mm, "host_total_ns") == kMost);
  CHECK(number_in(mm, "device_total_ns") == kMost);
  CHECK(number_in(rows_of(comm_report(run, {}), "ranks").at(0), "total_ns") == kMost);
  CHECK(number_in(rows_of(dataloader_report(run), "iterators").at(0), "total_ns") == kMost);
  for (const ReportRow& category : rows_of(info_report(run), "categories"))
    if (std::get<std::string>(cell_in(category, "category")) != "user_annotation")
      CHECK(number_in(category, "total_ns") >= kLongNs);
}
