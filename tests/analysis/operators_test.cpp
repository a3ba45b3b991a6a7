#include "analysis/operators.h"

#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::string correlation(int number) {
  return "{\"correlation\": " + std::to_string(number) + "}";
}

// Returns the launcher of the first work with the correlation.
std::uint32_t launcher_of(const Operators& operators, const RankEvents& rank,
                          std::int64_t correlation) {
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices)
      if (span.correlation == correlation) return operators.launcher_of(span);
  FAIL("no work has correlation " << correlation);
  return kNoOperator;
}

}  // namespace

TEST_CASE("operators: host time is split between nested operators and calls") {
  const Run run = read_texts({{"rank0.json", TraceText()
                                                 .cat("cpu_op")
                                                 .x("aten::linear", 0, 100)
                                                 .x("aten::mm", 10, 60)
                                                 .cat("cuda_runtime")
                                                 .x("cudaLaunchKernel", 20, 15, correlation(1))
                                                 .cat("kernel")
                                                 .x("gemm", 50, 40, correlation(1))
                                                 .array()}},
                             {.details = true});
  const Operators operators(run, run.ranks.at(0));
  REQUIRE(operators.nodes().size() == 2);
  const OperatorNode& linear = operators.nodes()[0];
  const OperatorNode& mm = operators.nodes()[1];
  CHECK(linear.host_self_ns == 40'000);
  CHECK(linear.device_self_ns == 0);
  CHECK(linear.device_total_ns == 40'000);
  CHECK(mm.parent == 0);
  CHECK(mm.host_self_ns == 45'000);
  CHECK(mm.device_self_ns == 40'000);
  CHECK(launcher_of(operators, run.ranks.at(0), 1) == 1);
}

TEST_CASE("operators: device work belongs to the operator whose External id its call has") {
  const Run run = read_texts(
      {{"rank0.json", TraceText()
                          .cat("cpu_op")
                          .x("aten::a", 0, 100, R"({"External id": 5})")
                          .x("aten::b", 10, 50, R"({"External id": 6})")
                          .cat("cuda_runtime")
                          .x("launch", 20, 10, R"({"External id": 5, "correlation": 1})")
                          .x("launch", 40, 10, R"({"External id": 7, "correlation": 2})")
                          .tid("9")
                          .x("launch", 30, 10, R"({"External id": 5, "correlation": 3})")
                          .x("launch", 120, 10, R"({"External id": 5, "correlation": 4})")
                          .cat("kernel")
                          .x("k", 200, 1, correlation(1))
                          .x("k", 210, 2, correlation(2))
                          .x("k", 220, 4, correlation(3))
                          .x("k", 230, 8, correlation(4))
                          .array()}},
      {.details = true});
  const Operators operators(run, run.ranks.at(0));
  const OperatorNode& a = operators.nodes()[0];
  const OperatorNode& b = operators.nodes()[1];
  CHECK(a.device_self_ns == 1'000 + 4'000);
  CHECK(b.device_self_ns == 2'000);
  // A call on a row of its own is still in the operator that it names.
  CHECK(a.host_self_ns == 40'000);
  CHECK(b.host_self_ns == 30'000);
  // A call outside the time of its operator belongs to no operator.
  CHECK(launcher_of(operators, run.ranks.at(0), 4) == kNoOperator);
}

TEST_CASE(
    "operators: work whose call was not recorded belongs to the operator of its External id") {
  const Run run =
      read_texts({{"rank0.json", TraceText()
                                     .cat("cpu_op")
                                     .x("aten::a", 0, 100, R"({"External id": 5})")
                                     .cat("kernel")
                                     .x("k", 200, 3, R"({"External id": 5, "correlation": 9})")
                                     .x("k", 210, 4, R"({"External id": 6, "correlation": 10})")
                                     .array()}},
                 {.details = true});
  const Operators operators(run, run.ranks.at(0));
  CHECK(operators.nodes()[0].device_self_ns == 3'000);
}

TEST_CASE("operators: a call within a call is no time of its own") {
  const Run run = read_texts({{"rank0.json", TraceText()
                                                 .cat("cpu_op")
                                                 .x("aten::a", 0, 100, R"({"External id": 5})")
                                                 .cat("cuda_runtime")
                                                 .x("cudaLaunchKernel", 20, 30, correlation(1))
                                                 .cat("cuda_driver")
                                                 .x("cuLaunchKernel", 25, 20, correlation(2))
                                                 .x("cuLaunchKernel", 150, 20, correlation(3))
                                                 .cat("kernel")
                                                 .x("k", 200, 4, correlation(2))
                                                 .x("k", 210, 5, correlation(3))
                                                 .array()}},
                             {.details = true});
  const Operators operators(run, run.ranks.at(0));
  CHECK(operators.nodes()[0].host_self_ns == 70'000);
  CHECK(operators.nodes()[0].device_self_ns == 4'000);
  CHECK(launcher_of(operators, run.ranks.at(0), 3) == kNoOperator);
}

// One run of a process: an operator, what it launched, and work whose call was not recorded.
TraceText one_run(int at) {
  TraceText trace;
  trace.cat("cpu_op").x("aten::a", at, 40, R"({"External id": 5})");
  trace.cat("cuda_runtime").x("launch", at + 10, 5, correlation(1));
  trace.cat("kernel").x("k", at + 30, 20, correlation(1));
  return trace.x("k", at + 50, 4, R"({"External id": 5, "correlation": 9})");
}

TEST_CASE("operators: the ids of two files of a rank are not those of each other") {
  // Runs one after the other, and two processes of a rank at a time.
  for (const int later : {1000, 20}) {
    CAPTURE(later);
    const Run run =
        read_texts({{"rank0-a.json", one_run(0).array()}, {"rank0-b.json", one_run(later).array()}},
                   {.details = true});
    const Operators operators(run, run.ranks.at(0));
    REQUIRE(operators.nodes().size() == 2);
    CHECK(operators.nodes()[0].device_self_ns == 24'000);
    CHECK(operators.nodes()[1].device_self_ns == 24'000);
  }
}

TEST_CASE("operators: spans of another thread are no children") {
  const Run run = read_texts(
      {{"rank0.json",
        TraceText().cat("cpu_op").x("aten::a", 0, 100).tid("9").x("aten::b", 10, 20).array()}},
      {.details = true});
  const Operators operators(run, run.ranks.at(0));
  CHECK(operators.nodes()[0].host_self_ns == 100'000);
  CHECK(operators.nodes()[1].parent == kNoOperator);
}

TEST_CASE("operators: a span that crosses the end of another is the next one") {
  const Run run = read_texts(
      {{"rank0.json", TraceText().cat("cpu_op").x("aten::a", 0, 50).x("aten::b", 40, 30).array()}},
      {.details = true});
  const Operators operators(run, run.ranks.at(0));
  CHECK(operators.nodes()[0].host_self_ns == 50'000);
  CHECK(operators.nodes()[1].parent == kNoOperator);
  CHECK(operators.nodes()[1].host_self_ns == 20'000);
}

TEST_CASE("operators: the only child of one of its own name is the same operator") {
  const Run run =
      read_texts({{"rank0.json",
                   TraceText().cat("cpu_op").x("aten::mm", 0, 100).x("aten::mm", 10, 80).array()}},
                 {.details = true});
  const Operators operators(run, run.ranks.at(0));
  CHECK(operators.nodes()[1].is_repeat);
  CHECK(operators.nodes()[0].host_self_ns == 100'000);
}

TEST_CASE("operators: steps, loaders, optimizers and wrappers are none") {
  CHECK(is_operator("aten::mm", "cpu_op"));
  CHECK(is_operator("aten::mm", "Operator"));
  CHECK_FALSE(is_operator("aten::mm", "user_annotation"));
  CHECK_FALSE(is_operator("ProfilerStep#3", "Operator"));
  CHECK_FALSE(is_operator("Optimizer.step#SGD.step", "Operator"));
  CHECK_FALSE(is_operator("DistributedDataParallel.forward", "cpu_op"));
}
