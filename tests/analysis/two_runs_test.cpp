// Two runs of one job in one command, whose steps have the same numbers.
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

// Steps 10 to 13 of 100 us each, in which a rank computes from 5 to 45 us, or longer, and the
// all-reduce ends at 95.
std::string trace_of(int rank, int at, int longer_us) {
  TraceText trace;
  trace.composer_rank(rank, "1000");
  for (int step = 0; step < 4; ++step) {
    const int from = at + 100 * step;
    const auto launched = [&](int number) {
      return fmt::format(R"({{"device": 0, "stream": 7, "correlation": {}}})", 2 * step + number);
    };
    trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", 10 + step), from, 100);
    trace.cat("cuda_runtime").x("cudaLaunchKernel", from + 1, 1, launched(1));
    trace.x("cudaLaunchKernel", from + 3, 1, launched(2));
    trace.cat("kernel").x("gemm", from + 5, 40 + longer_us, launched(1));
    trace.x("ncclAllReduce", from + 45 + longer_us, 50 - longer_us, launched(2));
  }
  return trace.array();
}

constexpr int kLater = 900'000'000;  // us

// Rank 1 is 20 us late in the first run, 30 us in the second.
Files first_run() {
  return {{"a-rank0.json", trace_of(0, 0, 0)}, {"a-rank1.json", trace_of(1, 0, 20)}};
}
Files second_run() {
  return {{"b-rank0.json", trace_of(0, kLater, 0)}, {"b-rank1.json", trace_of(1, kLater, 30)}};
}
Run both_runs() {
  Files files = first_run();
  for (auto& file : second_run()) files.push_back(std::move(file));
  return read_texts(files);
}

}  // namespace

TEST_CASE("two runs: the steps of both are compared, each run for itself") {
  const Run run = both_runs();
  const Report report = stragglers_report(run);
  const ReportRow row = rows_of(report, "rows").at(1);
  CHECK(number_in(row, "steps") == 8);
  CHECK(number_in(row, "delay_ns_per_step") == 25'000);
  CHECK(report.headline.at(0).starts_with(
      "Rank 1 holds up the others by 25.000 us a step (25.0 % of the mean step), last in 100 % of "
      "8 steps;"));
  CHECK(bottleneck_report(run).report.headline.at(1).starts_with("8 steps: mean 100.000 us"));
}

TEST_CASE("two runs: where one rank has but one of them, that is compared by its time") {
  Files files = second_run();
  files.push_back(first_run().at(1));
  const Report report = stragglers_report(read_texts(files));
  CHECK(number_in(rows_of(report, "rows").at(1), "steps") == 4);
  CHECK(number_in(rows_of(report, "rows").at(1), "delay_ns_per_step") == 30'000);
}

TEST_CASE("two runs: no device is idle between them") {
  const auto total = [](const Report& report, const char* table, const char* key) {
    std::int64_t sum = 0;
    for (const ReportRow& row : rows_of(report, table)) sum += number_in(row, key);
    return sum;
  };
  const Run first = read_texts(first_run());
  const Run second = read_texts(second_run());
  const Run both = both_runs();
  for (const char* const key : {"total_ns", "idle_ns", "host_wait_ns", "gaps"}) {
    CAPTURE(key);
    for (const char* const table : {"rows", "streams"})
      CHECK(total(idle_report(both, {}), table, key) ==
            total(idle_report(first, {}), table, key) + total(idle_report(second, {}), table, key));
  }
  for (const char* const key : {"total_ns", "idle_ns"})
    CHECK(total(gpu_report(both), "rows", key) ==
          total(gpu_report(first), "rows", key) + total(gpu_report(second), "rows", key));
  CHECK(total(gpu_report(first), "rows", "idle_ns") == 2 * 3 * 10'000);
  // Devices work 4 * 90 of the 400 us of steps in each run.
  CHECK(share_in(rows_of(gpu_report(both), "rows").at(0), "utilization") == doctest::Approx(0.9));
}

TEST_CASE("two runs: shares of kernels are of the time in which devices were recorded") {
  // Work goes from 5 to 395 us, and of that gemm takes 4 * 60 in each run.
  const Run run = read_texts({{"a.json", trace_of(0, 0, 20)}, {"b.json", trace_of(0, kLater, 20)}});
  const ReportRow row = rows_of(kernels_report(run, {}), "rows").at(0);
  CHECK(text_in(row, "name") == "gemm");
  CHECK(share_in(row, "gpu_share") == doctest::Approx(240.0 / 390.0));
}

TEST_CASE("two runs: without marked steps each is a step of its own") {
  const auto run = [](int at) {
    return TraceText().composer_rank(0, "1000").cat("cpu_op").x("aten::mm", at, 80).array();
  };
  const Run both = read_texts({{"a.json", run(0)}, {"b.json", run(kLater)}});
  const BottleneckAnswer answer = bottleneck_report(both);
  CHECK(answer.report.headline.at(1).starts_with("2 steps: mean 80.000 us"));
  CHECK(answer.verdict.shares[Limit::idle].ns == 0);
}
