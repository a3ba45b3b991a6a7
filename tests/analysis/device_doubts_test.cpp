// Devices that are understood, and those that are not: testdata/devices, worked out by hand.
#include "analysis/devices/device_work.h"
#include "analysis/reports/reports.h"
#include "analysis/verdict/verdict_words.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

using namespace traceloom;

namespace {

Run read_device(const std::string& name) {
  return read_paths({std::string(TRACELOOM_SOURCE_DIR) + "/testdata/devices/" + name});
}

Verdict verdict_on(const std::string& name) {
  return find_verdict(Findings(read_device(name)));
}

}  // namespace

TEST_CASE("device doubts: rows that nobody knows are named, and leave the verdict open") {
  const Verdict verdict = verdict_on("unknown_process.json");
  CHECK(verdict_headline(verdict) ==
        "Verdict: inconclusive (rows of 'ACME NPU 0' look like a device and are not understood "
        "(2 spans, 700.000 us))");
  CHECK(verdict.next ==
        "record the device with torch.profiler, JAX or Ascend's profiler; see trace-stats info");
  CHECK(verdict.remedies.empty());
  for (const Limit limit : {Limit::memory, Limit::launch_bound, Limit::idle, Limit::compute}) {
    CAPTURE(limit_name(limit));
    CHECK(verdict.shares[limit].ns == 0);
    CHECK(verdict.shares[limit].most_ns == verdict.shares[limit].of_ns);
    CHECK_FALSE(verdict.shares[limit].unknown_since.empty());
  }
  CHECK(verdict_headline(verdict_on("unknown_category.json")) ==
        "Verdict: inconclusive (rows of 'acme_kernel' look like a device and are not understood "
        "(2 spans, 700.000 us))");
}

TEST_CASE("device doubts: info has the rows, and no report says that there is no device") {
  const Run run = read_device("unknown_process.json");
  const std::vector<ReportRow> rows = rows_of(info_report(run), "not_understood");
  REQUIRE(rows.size() == 1);
  CHECK(text_in(rows[0], "process") == "ACME NPU 0");
  CHECK(text_in(rows[0], "thread") == "Core 0");
  CHECK(number_in(rows[0], "spans") == 2);
  CHECK(number_in(rows[0], "total_ns") == 700'000);
  CHECK(info_report(run).notes ==
        std::vector<std::string>{"rows of 'ACME NPU 0' look like a device and are not "
                                 "understood (2 spans, 700.000 us): nothing is said about "
                                 "them"});
  CHECK(kernels_report(run, {}).notes ==
        std::vector<std::string>{"rows of 'ACME NPU 0' look like a device and are not understood "
                                 "(2 spans, 700.000 us): no kernels to show"});
}

TEST_CASE("device doubts: a category that nobody knows is no doubt beside kernels") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100);
  trace.cat("kernel").x("gemm", 0, 90, R"({"device": 0, "stream": 7})");
  trace.cat("my_marks").x("mark", 0, 90, R"({"device": 0, "stream": 7})");
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(DeviceDoubts(run).not_understood.empty());
  CHECK(find_unknown_rows(run).size() == 1);
  CHECK(find_verdict(Findings(run)).kind == Limit::compute);
}

TEST_CASE("device doubts: of whole programs nothing tells how much is computing") {
  const Verdict verdict = verdict_on("mtia.json");
  CHECK(verdict_headline(verdict) ==
        "Verdict: inconclusive (whole programs ('merge', 'pe_exe', 'remote') run on the device, "
        "and the traces do not show how much of a program is computing)");
  CHECK(verdict.shares[Limit::compute].ns == 0);
  CHECK(verdict.shares[Limit::compute].least_ns == 0);
  CHECK(verdict.shares[Limit::compute].most_ns == 450'000);
  CHECK(verdict.status[Limit::compute] == Status::cannot_tell);
  CHECK(verdict.programs.ns == 450'000);
  CHECK(verdict.gains[Limit::compute].ns == 0);
  CHECK(fmt::format("{}", fmt::join(verdict.evidence, "; ")).find("compute 6") ==
        std::string::npos);
  CHECK(std::ranges::count(verdict.evidence,
                           "whole programs ('merge', 'pe_exe', 'remote') 69.2 % of the mean step: "
                           "the traces do not show how much of a program is computing") == 1);
  CHECK(verdict.next ==
        "record the kernels or ops within the programs of the device; see trace-stats kernels");
}

TEST_CASE("device doubts: understood devices have verdicts and shares") {
  const Verdict jax = verdict_on("jax_gpu.json");
  CHECK(jax.shares[Limit::compute].ns == 100'000);
  CHECK(jax.shares[Limit::communication].ns == 50'000);
  CHECK(jax.shares[Limit::memory].ns == 30'000);
  CHECK(jax.shares[Limit::compute].of_ns == 500'000);
  const Verdict ascend = verdict_on("ascend.json");
  CHECK(ascend.shares[Limit::compute].ns == 350'000);
  // aclnnMm_MatMul_MatMul, in a step of 1000 us.
  CHECK(ascend.gains[Limit::compute].ns == 200'000);
  CHECK(ascend.shares[Limit::queued].ns == 85'000);
  CHECK(verdict_on("jax_tpu.json").kind == Limit::compute);
}

TEST_CASE("device doubts: what a producer writes twice counts once for the device") {
  const std::vector<ReportRow> jax = rows_of(gpu_report(read_device("jax_gpu.json")), "rows");
  REQUIRE(jax.size() == 1);
  CHECK(number_in(jax[0], "compute_ns") == 220'000);
  CHECK(number_in(jax[0], "idle_ns") == 320'000);
  CHECK(number_in(jax[0], "total_ns") == 620'000);
  const std::vector<ReportRow> tpu = rows_of(gpu_report(read_device("jax_tpu.json")), "rows");
  REQUIRE(tpu.size() == 2);
  CHECK(number_in(tpu[0], "kernel_ns") == 1'500'000);
  CHECK(number_in(tpu[0], "comm_ns") == 200'000);
  CHECK(number_in(tpu[1], "kernel_ns") == 800'000);
}

TEST_CASE("step phases: the page is of the kind of steps that takes most of the time") {
  const Run run = read_device("vllm.json");
  const BottleneckAnswer answer = bottleneck_report(run);
  CHECK(answer.report.headline.at(1) ==
        "2 prefill steps: mean 300.000 us, median 200.000 us, p99 400.000 us");
  CHECK(answer.report.headline.at(2) ==
        "Verdict: compute (at most 200.000 us of 300.000 us, 66.7 % of the mean prefill step)");
  const std::vector<ReportRow> kinds = rows_of(answer.report, "kinds");
  REQUIRE(kinds.size() == 2);
  CHECK(text_in(kinds[0], "kind") == "prefill");
  CHECK(number_in(kinds[0], "mean_ns") == 300'000);
  CHECK(text_in(kinds[1], "kind") == "decode");
  CHECK(number_in(kinds[1], "steps") == 3);
  CHECK(number_in(kinds[1], "mean_ns") == 100'000);
  CHECK(answer.report.notes ==
        std::vector<std::string>{
            "there are prefill and decode steps: all of this is of the prefill ones, which take "
            "most of the time",
            "rank 0: iterations that are neither prefill nor decode (step[IDLE ...], no requests): "
            "1; they count in no mean"});
}

TEST_CASE("step phases: steps have a kind, and no mean is of both") {
  const Report report = steps_report(read_device("sglang.json"), {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  REQUIRE(rows.size() == 3);
  CHECK(text_in(rows[0], "kind") == "prefill");
  CHECK(text_in(rows[2], "kind") == "decode");
  const std::vector<ReportRow> summary = rows_of(report, "summary");
  REQUIRE(summary.size() == 8);
  CHECK(text_in(summary[4], "kind") == "decode");
  CHECK(text_in(summary[4], "statistic") == "mean");
  CHECK(number_in(summary[4], "total_ns") == 105'000);
  CHECK(number_in(summary[4], "kernel_ns") == 85'000);
  CHECK(rows_of(gpu_report(read_device("sglang.json")), "kinds").size() == 2);
}

TEST_CASE("kernels: the host says what a grouped send and receive is") {
  TraceText trace;
  trace.cat("cpu_op").x("c10d::alltoall_base_", 0, 60, R"({"External id": 1})");
  trace.cat("user_annotation").x("nccl:all_to_all", 10, 40, R"({"External id": 2})");
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 20, 5, R"({"correlation": 1})");
  trace.cat("kernel").x("ncclDevKernel_SendRecv(ncclDevComm*)", 30, 50, R"({"correlation": 1})");
  trace.x("gemm", 100, 50);
  const std::vector<ReportRow> rows =
      rows_of(kernels_report(read_texts({{"rank0.json", trace.array()}}), {}), "rows");
  REQUIRE(rows.size() == 2);
  for (const ReportRow& row : rows)
    CHECK(cell_in(row, "collective") ==
          (text_in(row, "name") == "gemm" ? Cell{} : Cell{std::string("nccl:all_to_all")}));
}

TEST_CASE("device doubts: of spans whose category, name and row nobody knows there is no verdict") {
  TraceText trace;
  trace.b("add_11 Cmpt Prep", 0).e("add_11 Cmpt Prep", 30).x("SenRdmaSend", 30, 10);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(DeviceDoubts(run).not_understood ==
        "spans have no category, and neither their names nor their rows are known: 'add_11 Cmpt "
        "Prep', 'SenRdmaSend' (2 spans, 40.000 us)");
  CHECK(find_verdict(Findings(run)).kind == Limit::inconclusive);
  const Run known = read_texts({{"rank0.json", trace.cat("python").x("main", 0, 50).array()}});
  CHECK(DeviceDoubts(known).not_understood.empty());
}
