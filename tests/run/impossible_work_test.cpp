#include "run/impossible_work.h"

#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string linked(int correlation) {
  return R"({"device": 0, "stream": 7, "correlation": )" + std::to_string(correlation) + "}";
}

// `steps` steps of 100 us, each with a launch and a kernel, which the steps in `lost` lack.
TraceText launches(int steps, const std::vector<int>& lost,
                   const std::string& call = "cudaLaunchKernel", int at_us = 0, int first = 0) {
  TraceText trace;
  trace.cat("user_annotation");
  for (int i = 0; i < steps; ++i)
    trace.x("ProfilerStep#" + std::to_string(first + i), at_us + 100 * i, 99);
  trace.cat("cuda_runtime");
  for (int i = 0; i < steps; ++i) trace.x(call, at_us + 100 * i + 5, 2, linked(first + i));
  trace.cat("kernel").pid("0").tid("7");
  for (int i = 0; i < steps; ++i)
    if (std::find(lost.begin(), lost.end(), i) == lost.end())
      trace.x("k", at_us + 100 * i + 20, 60, linked(first + i));
  return trace.pid("1").tid("1");
}

// The numbers of the steps that count.
std::vector<std::int64_t> counted(const RankEvents& rank) {
  std::vector<std::int64_t> numbers;
  for (const Step& step : rank.steps.list)
    if (step.counted) numbers.push_back(step.number);
  return numbers;
}

std::uint64_t lost_launches(const Run& run) {
  std::uint64_t sum = 0;
  for (const RunFile& file : run.files) sum += file.problems.count(Problem::lost_work);
  return sum;
}

}  // namespace

TEST_CASE("impossible work: overlong work ends where the next of its stream begins") {
  TraceText trace;
  trace.cat("kernel").tid("7").x("a", 0, 9000, linked(1)).x("b", 50, 5, linked(2));
  trace.tid("20").x("c", 60, 5000, linked(3));
  const Run run = read_texts({{"rank0.json", trace.array()}});
  std::vector<Interval> times;
  run.ranks[0].for_each_device([&](const DeviceSpan& span) { times.push_back(span.interval()); });
  CHECK(times == std::vector<Interval>{{0, 50'000}, {50'000, 55'000}, {60'000, 5'060'000}});
  CHECK(run.files[0].problems.count(Problem::overlong_work) == 1);
}

TEST_CASE("impossible work: work that names no stream may overlap") {
  TraceText trace;
  trace.cat("kernel").tid("GPU 0").x("a", 0, 9000, R"({"device": 0})").x("b", 50, 5);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  std::vector<Interval> times;
  run.ranks[0].for_each_device([&](const DeviceSpan& span) { times.push_back(span.interval()); });
  CHECK(times == std::vector<Interval>{{0, 9'000'000}, {50'000, 55'000}});
  CHECK(run.files[0].problems.count(Problem::overlong_work) == 0);
}

TEST_CASE("impossible work: steps whose launches lost their work do not count") {
  const Run run = read_texts({{"rank0.json", launches(6, {0, 3}).array()}});
  CHECK(counted(run.ranks[0]) == std::vector<std::int64_t>{1, 2, 4, 5});
  CHECK(run.ranks[0].steps.lost == 2);
  CHECK(lost_launches(run) == 2);
}

TEST_CASE("impossible work: the end of a recording cuts off what was launched last") {
  const Run run = read_texts({{"rank0.json", launches(6, {4, 5}).array()}});
  CHECK(lost_launches(run) == 0);
  CHECK(run.ranks[0].steps.lost == 0);
  CHECK(run.ranks[0].steps.dropped == 2);
}

TEST_CASE("impossible work: each of several recordings has such an end") {
  const std::string first = launches(4, {3}).array();
  const std::string second = launches(4, {1, 3}, "cudaLaunchKernel", 1000, 10).array();
  const Run apart = read_texts({{"rank0-a.json", first}, {"rank0-b.json", second}});
  CHECK(lost_launches(apart) == 1);
  const std::string joined =
      first.substr(0, first.rfind(']')) + "," + second.substr(second.find('[') + 1);
  const Run together = read_texts({{"rank0.json", joined}});
  CHECK(lost_launches(together) == 1);
  CHECK(counted(together.ranks[0]) == counted(apart.ranks[0]));
}

TEST_CASE("impossible work: calls that never have work, and those into a graph, are no launches") {
  CHECK(lost_launches(read_texts({{"rank0.json", launches(3, {})
                                                     .cat("cuda_runtime")
                                                     .x("cudaGraphLaunch", 50, 1, linked(90))
                                                     .array()}})) == 0);
  CHECK(lost_launches(read_texts({{"rank0.json", launches(3, {})
                                                     .cat("cuda_runtime")
                                                     .x("cudaMemsetAsync", 50, 1, linked(90))
                                                     .array()}})) == 0);
  const auto captured = [](const char* begin) {
    return lost_launches(read_texts({{"rank0.json", launches(3, {})
                                                        .cat("cuda_runtime")
                                                        .x(begin, 40, 1)
                                                        .x("cudaLaunchKernel", 50, 1, linked(90))
                                                        .x("cudaStreamEndCapture", 60, 1)
                                                        .array()}}));
  };
  CHECK(captured("cudaStreamBeginCapture") == 0);
  const auto after = launches(3, {})
                         .cat("cuda_runtime")
                         .x("cudaStreamEndCapture", 40, 1)
                         .x("cudaLaunchKernel", 50, 1, linked(90))
                         .array();
  CHECK(lost_launches(read_texts({{"rank0.json", after}})) == 1);
  // Of the launches of another thread, the capture holds that within it.
  const auto backward = launches(3, {})
                            .cat("cuda_runtime")
                            .x("cudaStreamBeginCapture", 40, 1)
                            .x("cudaStreamEndCapture", 60, 1)
                            .tid("2")
                            .x("cudaLaunchKernel", 35, 1, linked(90))
                            .x("cudaLaunchKernel", 50, 1, linked(91))
                            .x("cudaLaunchKernel", 70, 1, linked(92))
                            .array();
  CHECK(lost_launches(read_texts({{"rank0.json", backward}})) == 2);
  CHECK(launches_kernels("hipExtModuleLaunchKernel"));
  CHECK_FALSE(launches_kernels("cudaLaunchHostFunc"));
}

TEST_CASE("impossible work: ids that begin again belong to the calls before them") {
  const std::string first = launches(3, {}).array();
  const std::string second = launches(3, {1}, "cudaLaunchKernel", 1000).array();
  const std::string joined =
      first.substr(0, first.rfind(']')) + "," + second.substr(second.find('[') + 1);
  CHECK(lost_launches(read_texts({{"rank0.json", joined}})) == 1);
}

TEST_CASE("impossible work: a rank of one unmarked step counts if it lost little") {
  const auto unmarked = [](int count) {
    TraceText trace;
    trace.cat("cpu_op").x("op", 0, 100 * count).cat("cuda_runtime");
    for (int i = 0; i < count; ++i) trace.x("cudaLaunchKernel", 100 * i + 5, 2, linked(i));
    trace.cat("kernel").pid("0").tid("7");
    for (int i = 1; i < count; ++i) trace.x("k", 100 * i + 20, 60, linked(i));
    return read_texts({{"rank0.json", trace.array()}});
  };
  CHECK(counted(unmarked(21).ranks[0]).size() == 1);
  CHECK(lost_launches(unmarked(21)) == 1);
  CHECK(counted(unmarked(20).ranks[0]).empty());
}

TEST_CASE("impossible work: a launch that lacks work in most steps has none by nature") {
  // Two launches in each step, of which the second one fails in all steps but `works`.
  const auto lost = [](int steps, const std::vector<int>& works) {
    TraceText trace = launches(steps, {}).cat("cuda_runtime");
    for (int i = 0; i < steps; ++i) trace.x("cudaLaunchKernel", 100 * i + 10, 2, linked(50 + i));
    trace.cat("kernel").pid("0").tid("7");
    for (const int i : works) trace.x("k", 100 * i + 81, 5, linked(50 + i));
    const Run run = read_texts({{"rank0.json", trace.array()}});
    CHECK(run.ranks[0].steps.lost == lost_launches(run));
    return lost_launches(run);
  };
  CHECK(lost(6, {}) == 0);
  CHECK(lost(5, {0, 1}) == 0);
  CHECK(lost(6, {0, 1, 2}) == 2);  // the last one may be cut off by the end of the recording
  CHECK(lost(2, {}) == 1);         // two steps are too few to tell
  // Steps that lack all work tell nothing.
  CHECK(lost_launches(read_texts({{"rank0.json", launches(6, {0, 1, 2, 3}).array()}})) == 4);
}

TEST_CASE("impossible work: a selected time loses nothing at its edges") {
  RunRequest request;
  request.time = TimeSelection{0, 120'000};
  const Run run = read_texts({{"rank0.json", launches(6, {3}).array()}}, request);
  CHECK(lost_launches(run) == 0);
}

TEST_CASE("steps: a step of which no time is left does not count") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 50).x("ProfilerStep#2", 50, 50);
  trace.x("ProfilerStep#3", 100, 100);
  trace.cat("cuda_runtime")
      .x("cudaLaunchKernel", 5, 2, linked(1))
      .x("cudaLaunchKernel", 150, 2, linked(3));
  trace.cat("kernel").pid("0").tid("7").x("k", 20, 100, linked(1)).x("k", 160, 30, linked(3));
  const Run run = read_texts({{"rank0.json", trace.array()}});
  CHECK(run.ranks[0].steps.instant == 1);
  CHECK(counted(run.ranks[0]) == std::vector<std::int64_t>{1, 3});
}
