#include "analysis/work/launching_host.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string launch_ids(int id) {
  return fmt::format(R"({{"External id": {0}, "correlation": {0}, "device": 0, "stream": 7}})", id);
}

// Returns "kernel: module" for each kernel, in the order of the file.
std::vector<std::string> modules_of_kernels(const TraceText& trace) {
  const Run run = read_texts({{"rank0.json", trace.object()}}, {.shapes = true, .python = true});
  const RankEvents& rank = run.ranks.at(0);
  const Operators operators(run, rank);
  const LaunchModules modules(run, rank, operators);
  std::vector<std::string> found;
  rank.for_each_device([&](const DeviceSpan& span) {
    found.push_back(
        fmt::format("{}: {}", run.labels.name(span.label), modules.name(modules.of_launch(span))));
  });
  return found;
}

}  // namespace

TEST_CASE("module_class: the number of the instance is left out") {
  CHECK(module_class("nn.Module: Linear_12") == "Linear");
  CHECK(module_class("nn.Module: Conv2d_0") == "Conv2d");
  CHECK(module_class("nn.Module: Block_v2") == "Block_v2");
  CHECK(module_class("nn.Module: Block_2_7") == "Block_2");
  CHECK(module_class("nn.Module: _3") == "_3");
  CHECK(module_class("nn.Module: Linear_") == "Linear_");
}

TEST_CASE("LaunchModules: the innermost module in which the launch began") {
  TraceText trace;
  trace.cat("python_function").x("nn.Module: Net_0", 0, 100).x("nn.Module: MLP_0", 10, 50);
  trace.x("nn.Module: Linear_0", 20, 5).x("nn.Module: Linear_1", 30, 10);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 20, 2, launch_ids(1));
  trace.x("cudaLaunchKernel", 25, 2, launch_ids(2)).x("cudaLaunchKernel", 39, 5, launch_ids(3));
  trace.x("cudaLaunchKernel", 60, 5, launch_ids(4)).x("cudaLaunchKernel", 100, 5, launch_ids(5));
  trace.tid("2").x("cudaLaunchKernel", 35, 2, launch_ids(6));
  trace.cat("kernel").pid("0").tid("7");
  for (int i = 1; i <= 6; ++i) trace.x(fmt::format("k{}", i), 100 + i, 1, launch_ids(i));
  CHECK(modules_of_kernels(trace) == std::vector<std::string>{"k1: MLP.Linear", "k2: Net.MLP",
                                                              "k3: MLP.Linear", "k4: Net",
                                                              "k5: ", "k6: "});
}

TEST_CASE("LaunchModules: without a launching call, the operator shows the module") {
  TraceText trace;
  trace.cat("python_function").b("nn.Module: Net_0", 0).e("nn.Module: Net_0", 50);
  trace.cat("cpu_op").x("aten::mm", 10, 20, R"({"External id": 4})");
  trace.cat("kernel").tid("7").x("gemm", 60, 5, R"({"External id": 4, "correlation": 9})");
  CHECK(modules_of_kernels(trace) == std::vector<std::string>{"gemm: Net"});
}

TEST_CASE("modules shorter than 20 us are known, and take no time of their own from the host") {
  TraceText trace;
  trace.cat("python_function").x("nn.Module: Net_0", 0, 19).x("nn.Module: Net_1", 100, 20);
  const Run run = read_texts({{"rank0.json", trace.object()}}, {.python = true});
  std::size_t marks = 0;
  run.ranks.at(0).for_each_mark(
      [&](const MarkedSpan& span) { marks += span.mark == SpanMark::module ? 1 : 0; });
  CHECK(marks == 2);
  std::vector<std::string> frames;
  run.ranks[0].for_each_frame(
      [&](const HostSpan& span) { frames.emplace_back(run.labels.name(span.label)); });
  CHECK(frames == std::vector<std::string>{"nn.Module: Net_1"});
  const Run without = read_texts({{"rank0.json", trace.object()}}, {.frames = true});
  without.ranks.at(0).for_each_mark([&](const MarkedSpan&) { ++marks; });
  CHECK(marks == 2);
}
