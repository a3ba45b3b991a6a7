// What `bottleneck` advises, and the numbers beside it.
#include "support/trace_text.h"
#include "words_of_verdict.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

TEST_CASE("remedies: what takes the time decides the advice, and N counts that alone") {
  // Copies of pageable memory; short ones; long ones.
  const auto memory_remedy = [](const char* name, int copies, int us) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000).cat("gpu_memcpy");
    for (int i = 0; i < copies; ++i) trace.x(name, 10 + (us + 2) * i, us);
    trace.cat("gpu_memset").x("Memset (Device)", 980, 1);
    const Verdict verdict = verdict_of(trace);
    return fmt::format("{} {}", verdict.remedies.at(0).text, verdict.remedies.at(0).events);
  };
  CHECK(memory_remedy("Memcpy HtoD (Pageable -> Device)", 2, 300) ==
        "pinned memory: most of the time is copies of pageable memory 3");
  CHECK(memory_remedy("Memcpy HtoD (Pinned -> Device)", 2, 300) ==
        "less data to copy, data that stays on the device, overlap with kernels 3");
  CHECK(memory_remedy("Memcpy HtoD (Pinned -> Device)", 20, 30) ==
        "fewer and larger copies, data that stays on the device 21");
  // One long kernel has nothing to be fused with; the gain and N are those of one name.
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000).cat("kernel");
  trace.x("scan", 0, 300).x("scan", 310, 300).x("other", 620, 50).x("other", 680, 50);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.remedies.at(0).text == "a faster scan");
  CHECK(verdict.remedies.at(0).events == 2);
}

TEST_CASE("remedies: long gaps before work that was launched are no matter of kernels") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  for (int i = 1; i <= 20; ++i)
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 2 * i, 1, linked(i));
  for (int i = 1; i <= 19; ++i) trace.cat("kernel").x("gemm", 40 + 12 * i, 6, linked(i));
  trace.cat("kernel").x("gemm", 900, 100, linked(20));
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.kind == Limit::turn_around);
  CHECK(verdict.next ==
        "find what else uses the device: it had its next work and waited; see trace-stats idle");
}

TEST_CASE("account: without devices, N and Longest are of the pieces of a row") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000).cat("cpu_op");
  trace.x("aten::mm", 100, 300).x("aten::mm", 500, 300);
  const Run run = read_step(trace);
  const Account account = Findings(run).account;
  CHECK(account[AccountRow::host_operator].n == 2);
  CHECK(account[AccountRow::host_operator].longest_ns == 300'000);
  CHECK(account[AccountRow::not_recorded].n == 3);
  CHECK(account[AccountRow::not_recorded].longest_ns == 200'000);
}
