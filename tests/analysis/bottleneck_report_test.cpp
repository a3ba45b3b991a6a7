#include "analysis/bottleneck_report.h"

#include "support/job_traces.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

Verdict verdict_of(const JobTraces::Files& files) {
  return find_verdict(Findings(read_texts(files)));
}

// A step of 100 us on a device, with these spans in it.
Verdict verdict_on_device(TraceText trace) {
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100);
  return verdict_of({{"rank0.json", trace.array()}});
}

}  // namespace

TEST_CASE("bottleneck: a loader that takes more than 5 percent is named before compute") {
  JobTraces job{.ranks = 1};
  job.loader_us[0] = 6;
  job.work_us[0] = 84;
  CHECK(verdict_of(job.torch()).kind == Limit::data_loading);
  CHECK(verdict_of(job.torch()).share == 0.06);
  job.loader_us[0] = 5;
  job.work_us[0] = 95;
  job.meeting_us = 0;
  CHECK(verdict_of(job.torch()).kind == Limit::compute);
}

TEST_CASE("bottleneck: a straggler is named, and its loader where that is the cause") {
  JobTraces job;
  job.work_us[2] = 100;
  Verdict verdict = verdict_of(job.torch());
  CHECK(verdict.kind == Limit::straggler);
  CHECK(verdict.rank == 2);
  job.work_us.clear();
  job.loader_us[3] = 100;
  verdict = verdict_of(job.composer());
  CHECK(verdict.kind == Limit::data_loading);
  CHECK(verdict.rank == 3);
}

TEST_CASE("bottleneck: ranks that cannot be told apart make it inconclusive") {
  JobTraces job;
  job.work_us[0] = job.work_us[2] = 200;
  const Verdict verdict = verdict_of(job.composer());
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK_FALSE(verdict.rank);
  CHECK(verdict.evidence.back().starts_with("ranks 0 or 2: the others wait 160.000 us a step"));
}

TEST_CASE("bottleneck: one rank that is idle is a straggler, and not a job that is idle") {
  const auto rank = [](int number, int idle) {
    TraceText trace;
    for (int step = 0; step < 4; ++step) {
      const int at = 100 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 100);
      trace.cat("kernel").x("gemm", at + idle, 20).x("ncclAllReduce", at + idle + 20, 80 - idle);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  Verdict verdict = verdict_of({rank(0, 5), rank(1, 55)});
  CHECK(verdict.kind == Limit::straggler);
  CHECK(verdict.rank == 1);
  CHECK(verdict.share == 0.5);
  CHECK(verdict.advice.at(0) == "look at rank 1 first (cause: idle); see trace-stats stragglers");
  verdict = verdict_of({rank(0, 50), rank(1, 55)});
  CHECK(verdict.kind == Limit::idle);
  CHECK_FALSE(verdict.rank);
}

TEST_CASE("bottleneck: each limit of a device is told from the others") {
  CHECK(verdict_on_device(TraceText().cat("kernel").x("gemm", 0, 95)).kind == Limit::compute);
  CHECK(verdict_on_device(TraceText().cat("kernel").x("gemm", 0, 70).x("ncclDevKernel_X", 70, 25))
            .kind == Limit::communication);
  CHECK(verdict_on_device(
            TraceText().cat("kernel").x("gemm", 0, 70).cat("gpu_memcpy").x("Memcpy HtoD", 70, 25))
            .kind == Limit::memory);
  CHECK(verdict_on_device(
            TraceText().cat("kernel").x("gemm", 0, 50).cat("cpu_op").x("aten::mm", 0, 95))
            .kind == Limit::launch_bound);
  CHECK(verdict_on_device(TraceText().cat("kernel").x("gemm", 0, 60)).kind == Limit::idle);
}

TEST_CASE("bottleneck: nothing to look at is inconclusive, not an error") {
  const Verdict verdict = verdict_of({{"rank0.json", "[]"}});
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(verdict.share == 0);
  CHECK(verdict.evidence.at(0) == "no steps: nothing to take a share of");
}

TEST_CASE("bottleneck: the report does not depend on threads or on the order of files") {
  JobTraces job;
  job.loader_us[3] = 30;
  job.work_us[1] = 70;
  JobTraces::Files files = job.torch();
  const Report first = bottleneck_report(read_texts(files, {.threads = 1})).report;
  std::reverse(files.begin(), files.end());
  const Report second = bottleneck_report(read_texts(files, {.threads = 3})).report;
  CHECK(first.values == second.values);
  CHECK(first.headline == second.headline);
}
