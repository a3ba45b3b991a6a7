// What `bottleneck` advises, and the numbers beside it.
#include "support/trace_text.h"
#include "words_of_verdict.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <vector>

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
  CHECK(memory_remedy("Memcpy DtoD (Device -> Device)", 2, 300) ==
        "fewer copies within the device: tensors as they lie, changed in place 3");
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
  CHECK(verdict.remedies.at(0).where == "the longest is before gemm");
}

TEST_CASE("bottleneck: without an event before the first work, and with few launches, it says so") {
  TraceText trace;
  trace.cat("cpu_op").x("aten::rand", 0, 100);
  for (int i = 1; i <= 9; ++i)
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 1000 + 100 * i, 5, linked(i));
  for (int i = 1; i <= 10; ++i) trace.cat("kernel").x("gemm", 1010 + 100 * i, 60, linked(i));
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.left_out.at(0) ==
        "53.6 % before the first or after the last work of a device: (nothing recorded) 1.005 ms");
  CHECK(verdict.evidence.back() ==
        "the launch of 1 of 10 pieces of device work in these steps is not in these traces");
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

namespace {

// A lone step in which the host goes on for these times, each in a call of aten::mm, before it
// launches the second kernel.
Verdict verdict_of_calls(const std::vector<int>& calls_us) {
  TraceText trace;
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 2, linked(1));
  trace.cat("kernel").x("gemm", 2, 98, linked(1));
  int now_us = 100;
  for (const int us : calls_us) {
    trace.cat("cpu_op").x("aten::mm", now_us, us);
    now_us += us;
  }
  trace.cat("cuda_runtime").x("cudaLaunchKernel", now_us, 5, linked(2));
  trace.cat("kernel").x("gemm", now_us + 5, 20'000, linked(2));
  return verdict_of(trace);
}

}  // namespace

TEST_CASE("account: an operator recurs in a lone step if its calls are alike") {
  const auto gain_ns = [](const std::vector<int>& calls_us) {
    return verdict_of_calls(calls_us).gains[Limit::host_operator].ns;
  };
  CHECK(gain_ns({300, 400, 500}) == 1'200'000);
  // The median of four is the second shortest.
  CHECK(gain_ns({300, 500, 300, 500}) == 1'600'000);
  CHECK(gain_ns({300, 400}) == 0);
  CHECK(gain_ns({900}) == 0);
  // What the first calls take: the first of all, the first of each shape, long ones of later calls
  // that are long as well.
  CHECK(gain_ns({9000, 300, 300, 300, 300}) == 0);
  CHECK(gain_ns({2453, 60, 1707, 60, 60, 1455, 60, 60, 229}) == 0);
  CHECK(gain_ns({5000, 5000, 5000, 210, 210, 210}) == 0);
  // The mean is twice the median, and a little more.
  CHECK(gain_ns({300, 300, 1200}) == 1'800'000);
  CHECK(gain_ns({300, 300, 1201}) == 0);
  const Verdict warm_up = verdict_of_calls({9000, 300, 300, 300, 300});
  CHECK(warm_up.kind == Limit::compute);
  CHECK(warm_up.left_out.at(0) ==
        "33.7 % in operators and calls of 200 us or more, and one step does not show that they "
        "recur: aten::mm 10.200 ms");
}

TEST_CASE("account: one name with one innermost caller is one row, whatever is around the caller") {
  // 40 calls of 200 us and more, of which those of the longest 20 are in another block.
  TraceText trace;
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 2, linked(1));
  trace.cat("kernel").x("gemm", 2, 98, linked(1));
  for (int i = 0; i < 40; ++i) {
    const int at = 100 + 400 * i;
    trace.cat("cpu_op").x(i % 2 == 0 ? "attention" : "mlp", at, 400);
    trace.x("aten::linear", at + 10, 380).x("aten::addmm", at + 20, i % 2 == 0 ? 300 : 250);
  }
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 16'100, 5, linked(2));
  trace.cat("kernel").x("gemm", 16'105, 100, linked(2));
  const Findings found(read_step(trace));
  const std::vector<NamedTime>& names = found.account[AccountRow::host_operator].names;
  REQUIRE(names.size() == 1);
  CHECK(names[0].ns == 11'000'000);
  CHECK(names[0].n == 40);
  CHECK(names[0].callers == "aten::linear, attention");
  CHECK(find_verdict(found).remedies.at(0).where == "aten::addmm 11.000 ms in aten::linear");
}

TEST_CASE("account: a call has only its own time of a gap in which work is queued") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  trace.x("cudaLaunchKernel", 50, 5, linked(2, 8)).x("cudaMemcpyAsync", 300, 400);
  trace.cat("cpu_op").x("aten::copy_", 290, 420);
  trace.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 900, 100, linked(2, 8));
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.kind == Limit::queued);
  CHECK(verdict.gains[Limit::queued].ns == 800'000);
  CHECK(verdict.remedies.at(0).where == "cudaMemcpyAsync 400.000 us in aten::copy_");
}

TEST_CASE("account: a thread without frames runs no Python, whatever the others do") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("python_function").x("train.py(1): step", 0, 1000);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  trace.tid("2").x("cudaLaunchKernel", 890, 10, linked(2)).tid("1");
  trace.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 900, 100, linked(2));
  const Run run = read_step(trace);
  const Account account = Findings(run).account;
  CHECK(account[AccountRow::host_code].ns == 0);
  CHECK(account[AccountRow::idle].ns == 790'000);
  CHECK(account[AccountRow::launch].ns == 10'000);
}

TEST_CASE("remedies: a function that has less than most of the row is not alone") {
  const auto remedy = [](int loss_us) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
    trace.x("cudaLaunchKernel", 890, 5, linked(2));
    trace.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 900, 100, linked(2));
    trace.cat("python_function").x("train.py(1): <module>", 0, 1000);
    trace.x("train.py(9): loss", 110, loss_us).x("train.py(20): norm", 700, 100);
    const Remedy found = verdict_of(trace).remedies.at(0);
    return fmt::format("{}; {}", found.text, found.where);
  };
  CHECK(remedy(500) ==
        "less Python in loss (train.py) and others: faster, compiled, or in workers; "
        "loss (train.py) 500.000 us, norm (train.py) 100.000 us");
  CHECK(remedy(590).starts_with("less Python in loss (train.py) and others"));
}

TEST_CASE(
    "remedies: computing is advised by the kernel that takes longest, and what its name says") {
  const auto remedy = [](const char* name) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000).cat("kernel");
    for (int i = 0; i < 10; ++i) trace.x(name, 100 * i, 60).x("other", 100 * i + 60, 30);
    return verdict_of(trace).remedies.at(0).text;
  };
  CHECK(remedy("nchwToNhwcKernel") == "a faster nchwToNhwcKernel");
  CHECK(remedy("nvjet_tst_128x256_64x4") == "a faster nvjet_tst_128x256_64x4");
  CHECK(remedy("volta_sgemm_64x64_nt") ==
        "a faster volta_sgemm_64x64_nt: lower precision, tensor cores (its name shows none)");
  CHECK(remedy("vectorized_elementwise_kernel") ==
        "a faster vectorized_elementwise_kernel, or fused with others");
}
