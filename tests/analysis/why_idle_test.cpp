// The statements of `bottleneck` about idle devices, and the statements that it must not make.
#include "analysis/reports/bottleneck_report.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/work/call_tree.h"
#include "oracle/json_value.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

std::string linked(int correlation) {
  return fmt::format(R"({{"device": 0, "stream": 7, "correlation": {}}})", correlation);
}

// A step of 1000 us, with a kernel of 100 us at its begin and one at its end.
TraceText step_with_gap(int launched_us) {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  trace.x("cudaLaunchKernel", launched_us, 5, linked(2));
  trace.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 900, 100, linked(2));
  return trace;
}

Verdict verdict_of(const TraceText& trace, std::string_view members = "") {
  return find_verdict(
      Findings(read_texts({{"rank0.json", trace.object(members)}}, {.python = true})));
}

std::string all_words_of(const Verdict& verdict) {
  return fmt::format("{}\n{}\n{}", verdict_headline(verdict), fmt::join(verdict.evidence, "\n"),
                     fmt::join(texts_of(verdict.advice), "\n"));
}

bool says(const Verdict& verdict, std::string_view words) {
  return all_words_of(verdict).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("why idle: a host that is late with operators is launch-bound") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::mm", 100, 790);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) == "Verdict: launch-bound (79.5 % of the mean step)");
  CHECK(verdict.status[Limit::launch_bound] == Status::measured);
  CHECK(verdict.events[Limit::launch_bound] == 1);
  CHECK(verdict.advice.at(0).text ==
        "CUDA graphs, torch.compile, larger batches, fewer synchronisations: the device waits for "
        "its host");
}

TEST_CASE("why idle: nothing recommends graphs where there are none, they replay or are captured") {
  TraceText other;
  other.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  other.cat("xpu_runtime").x("urEnqueueKernelLaunch", 0, 1, linked(1));
  other.x("urEnqueueKernelLaunch", 890, 5, linked(2));
  other.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 900, 100, linked(2));
  other.cat("cpu_op").x("aten::mm", 100, 790);
  CHECK(verdict_of(other).advice.at(0).text ==
        "torch.compile, larger batches, fewer synchronisations: the device waits for its host");
  TraceText replays = step_with_gap(890);
  replays.cat("cpu_op").x("aten::mm", 100, 790);
  replays.cat("cuda_runtime").x("cudaGraphLaunch", 895, 1, R"({"correlation": 9})");
  CHECK(verdict_of(replays).kind == Limit::launch_bound);
  CHECK_FALSE(says(verdict_of(replays), "CUDA graphs"));
  TraceText captures = step_with_gap(890);
  captures.cat("cpu_op").x("aten::mm", 100, 790);
  captures.cat("cuda_runtime").x("cudaStreamBeginCapture_v2", 100, 1);
  CHECK(verdict_of(captures).advice.at(0).text ==
        "record steps that do not capture: what is captured is not slow when it is replayed");
}

TEST_CASE("why idle: a call that blocks is the verdict, with its callers and its time") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::to", 105, 785).x("aten::copy_", 110, 780);
  trace.cat("cuda_runtime").x("cudaMemcpyAsync", 120, 765);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) == "Verdict: blocked (76.5 % of the mean step)");
  CHECK(says(verdict,
             "blocked 76.5 % of the mean step: cudaMemcpyAsync 765.000 us (1 call, up to 765.000 "
             "us) in aten::copy_, aten::to"));
  CHECK(verdict.advice.at(0).text ==
        "fewer calls of cudaMemcpyAsync: pinned memory with non_blocking=True, values read (item, "
        "cpu) once in many steps");
  CHECK(verdict.shares[Limit::launch_bound].ns == 25'000);
}

TEST_CASE("why idle: work that was launched long ago is queued, and no launch-bound host") {
  TraceText trace = step_with_gap(50);
  trace.cat("cpu_op").x("aten::mm", 60, 900);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) == "Verdict: queued (80.2 % of the mean step)");
  CHECK(says(verdict, "80.0 % launched and not begun: behind what these traces do not hold"));
  CHECK(verdict.shares[Limit::launch_bound].ns == 0);
}

TEST_CASE("why idle: Python's functions explain a host without operators") {
  TraceText trace = step_with_gap(890);
  trace.cat("python_function").x("train.py(1): <module>", 0, 1000);
  trace.x("data/video.py(12): preprocess", 110, 700).x("data/video.py(40): decode", 120, 600);
  trace.x("train.py(9): loss", 820, 60);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) == "Verdict: host-code (79.5 % of the mean step)");
  CHECK(says(verdict,
             "preprocess (data/video.py) 700.000 us, most of it in decode (data/video.py) 600.000 "
             "us; loss (train.py) 60.000 us"));
  CHECK_FALSE(says(verdict, "nothing that was recorded"));
  CHECK_FALSE(says(verdict, "with_stack"));
  // The frames of another thread, which launches nothing, prove nothing about the steps.
  TraceText other = step_with_gap(890);
  other.tid("99").cat("python_function").x("monitor.py(1): wait", 0, 1000);
  CHECK(verdict_of(other).kind == Limit::idle);
}

TEST_CASE("why idle: frames are read by name and file") {
  const FrameSum frame = read_frame("torch/cuda/graphs.py(139): replay");
  CHECK(frame.text() == "replay (torch/cuda/graphs.py)");
  CHECK(read_frame("<built-in method to of Tensor object at 0x7cc1559c5310>").text() ==
        "<built-in method to of Tensor object>");
}

TEST_CASE("why idle: what the trace does not hold is not idle") {
  // No step is marked. The first work waited 300 us for what ran before: the device was busy.
  TraceText excerpt;
  excerpt.cat("cpu_op").x("aten::mm", 0, 100);
  excerpt.cat("cuda_runtime").x("cudaLaunchKernel", 90, 5, linked(1));
  excerpt.cat("kernel").x("gemm", 400, 600, linked(1));
  const Verdict busy = verdict_of(excerpt);
  CHECK(verdict_headline(busy) == "Verdict: compute (60.0 % of the mean step)");
  CHECK(busy.shares[Limit::queued].ns == 310'000);
  CHECK(busy.not_recorded.ns == 90'000);
  CHECK(busy.shares[Limit::idle].ns == 0);
  // The launch of the second kernel was not recorded, so the reason of the gap before it is
  // unknown.
  TraceText lost;
  lost.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  lost.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  lost.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 600, 400, linked(77));
  const Verdict unknown = verdict_of(lost);
  CHECK(unknown.kind == Limit::inconclusive);
  CHECK(unknown.not_recorded.ns == 500'000);
  CHECK(unknown.advice.at(0).text ==
        "record whole steps, and host and device together: the traces do not show why the device "
        "waits");
}

TEST_CASE("why idle: ranks that are not here are told, always") {
  TraceText trace = step_with_gap(890);
  const Verdict one = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(says(one, "1 of 8 ranks: time in its collectives includes waiting"));
  const Verdict all = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 1})");
  CHECK_FALSE(says(all, "includes waiting"));
}

TEST_CASE("why idle: JSON has the evidence of each share, of the verdict and of advice") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::mm", 100, 790);
  const Run run = read_texts(
      {{"rank0.json", trace.object(R"("distributedInfo": {"rank": 0, "world_size": 8})")}});
  const Report report = bottleneck_report(run).report;
  const oracle::Json verdict = oracle::parse_json(report.values.at(0).second);
  CHECK(verdict.find("status")->text == "measured");
  CHECK(verdict.find("coverage")->find("launches")->text == "2");
  CHECK(verdict.find("coverage")->find("device_work")->text == "2");
  CHECK(verdict.find("coverage")->find("world_size")->text == "8");
  for (const oracle::Json& part : verdict.find("parts")->items) {
    CHECK(part.find("status") != nullptr);
    CHECK(part.find("n") != nullptr);
    CHECK(part.find("ranks")->items.size() == 1);
    CHECK(part.find("coverage")->find("steps")->text == "1");
  }
  const oracle::Json& advice = verdict.find("advice_evidence")->items.at(0);
  CHECK(advice.find("limit")->text == "launch-bound");
  CHECK(advice.find("n")->text == "1");
}

TEST_CASE("why idle: stages of a pipeline wait for each other in messages, and move data") {
  // Rank 0 computes and sends, rank 1 has waited for that since its step began.
  const auto rank = [](int number) {
    const std::string group =
        R"("Process Group Name": "1", "Process Group Ranks": "[0, 1]", "Group size": 2)";
    const auto message = [&](const char* name, const char* end, int other) {
      return fmt::format(R"({{"device": 0, "stream": 20, "Collective name": "{}", {}, "{}": {}}})",
                         name, group, end, other);
    };
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000).cat("kernel");
    if (number == 0) {
      trace.x("gemm", 0, 490)
          .x("ncclDevKernel_SendRecv(x)", 490, 10, message("send", "Dst Rank", 1));
      trace.x("ncclDevKernel_SendRecv(y)", 500, 500, message("recv", "Src Rank", 1));
    } else {
      trace.x("ncclDevKernel_SendRecv(x)", 0, 500, message("recv", "Src Rank", 0));
      trace.x("gemm", 500, 490)
          .x("ncclDevKernel_SendRecv(y)", 990, 10, message("send", "Dst Rank", 0));
    }
    return std::pair{
        fmt::format("rank{}.json", number),
        trace.object(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}})", number))};
  };
  const BottleneckAnswer answer = bottleneck_report(read_texts({rank(0), rank(1)}));
  const Verdict& verdict = answer.verdict;
  CHECK(verdict.waits_for_stages);
  CHECK(verdict.shares[Limit::communication].share() == doctest::Approx(0.51));
  CHECK(verdict.waiting.share() == doctest::Approx(0.49));
  CHECK(says(verdict, "2.0 % moving data, 49.0 % waiting for other stages"));
  CHECK(verdict.kind != Limit::communication);
  CHECK_FALSE(says(verdict, "larger buckets"));
  // The second advice is about waiting, whatever the verdict is: two messages, each with two ends.
  const oracle::Json json = oracle::parse_json(answer.report.values.at(0).second);
  const std::vector<oracle::Json>& advice = json.find("advice_evidence")->items;
  REQUIRE(advice.size() == 2);
  CHECK(advice[1].find("advice")->text.starts_with("more micro-batches"));
  CHECK(advice[1].find("limit")->text == "communication");
  CHECK(advice[1].find("part")->text == "waiting");
  CHECK(advice[1].find("value")->text == "0.49");
  CHECK(advice[1].find("n")->text == "4");
  CHECK(advice[1].find("status")->text == "measured");
}

namespace {

constexpr const char* kGroup =
    R"("Process Group Name": "1", "Process Group Ranks": "[0, 1]", "Group size": 2)";

TraceText& add_message(TraceText& trace, const char* name, int other, int start_us, int length_us) {
  const bool sends = std::string_view(name) == "send";
  return trace.x(
      "ncclDevKernel_SendRecv(x)", start_us, length_us,
      fmt::format(R"({{"device": 0, "stream": 20, "Collective name": "{}", {}, "{}": {}}})", name,
                  kGroup, sends ? "Dst Rank" : "Src Rank", other));
}

void add_reduction(TraceText& trace, const char* name, int start_us, int length_us) {
  trace.x(
      name, start_us, length_us,
      fmt::format(R"({{"device": 0, "stream": 21, "Collective name": "allreduce", {}}})", kGroup));
}

// Two stages that wait for nobody and compute all the rest of a step. `is_inner`: the reduction
// comes before the last message.
Verdict verdict_of_stages(bool is_inner, int message_us) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const int number : {0, 1}) {
    const int sent_us = 400 + message_us;
    const int received_us = 800 + message_us / 2;
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("kernel").x("gemm_backward", 0, 400);
    add_message(trace, number == 0 ? "send" : "recv", 1 - number, 400, message_us);
    trace.x("gemm_backward", sent_us, (is_inner ? 600 : 800) - sent_us);
    if (is_inner) add_reduction(trace, "ncclDevKernel_AllReduce(y)", 600, 200);
    add_message(trace, number == 0 ? "recv" : "send", 1 - number, 800, message_us / 2);
    trace.x("gemm_backward", received_us, (is_inner ? 1000 : 900) - received_us);
    if (!is_inner) add_reduction(trace, "ncclDevKernel_AllReduce(y)", 900, 100);
    files.emplace_back(
        fmt::format("rank{}.json", number),
        trace.object(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}})", number)));
  }
  return find_verdict(Findings(read_texts(files)));
}

// A rank with 620 us of an all-reduce in a step of 1000 us, beside 340 us of computing.
Verdict verdict_of_one(std::string_view members) {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("kernel").x("gemm", 0, 340, R"({"device": 0, "stream": 7})");
  add_reduction(trace, "ncclDevKernel_AllReduce(x)", 340, 620);
  return verdict_of(trace, members);
}

}  // namespace

TEST_CASE("why idle: advice of a pipeline is for what moves most of the data") {
  const Verdict inner = verdict_of_stages(true, 20);
  CHECK(verdict_headline(inner) ==
        "Verdict: communication (23.0 % of the mean step of 2 ranks, 23.0 % without waiting)");
  CHECK(says(inner, "smaller tensor- or expert-parallel groups"));
  CHECK_FALSE(says(inner, "larger buckets"));
  const Verdict messages = verdict_of_stages(false, 100);
  CHECK(says(messages, "most of the data moves in messages between stages"));
  CHECK_FALSE(says(messages, "larger buckets"));
  const Verdict end = verdict_of_stages(false, 20);
  CHECK(says(end, "larger buckets"));
}

TEST_CASE("why idle: one rank of several tells communication from waiting for nobody") {
  const Verdict verdict = verdict_of_one(R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(verdict_headline(verdict) == "Verdict: inconclusive (communication or none)");
  CHECK(verdict.shares[Limit::communication].share() == doctest::Approx(0.62));
  CHECK(verdict.shares[Limit::communication].is_known());
  CHECK(verdict.untold.share() == doctest::Approx(0.62));
  CHECK(verdict.status[Limit::communication] == Status::inferred);
  CHECK(says(verdict, "62.0 % moving data or waiting for ranks that are not here"));
  CHECK(says(verdict, "1 of 8 ranks: time in its collectives includes waiting"));
  CHECK(texts_of(verdict.advice) ==
        std::vector<std::string>{"record the other ranks, too (1 of 8 are here): then moving data "
                                 "and waiting for ranks are separate shares"});
}

TEST_CASE("why idle: one rank that communicates with nobody knows how many is one of several") {
  const Verdict verdict = verdict_of_one("");
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(says(verdict, "1 rank of a job whose size is not known"));
  CHECK(says(verdict, "record the other ranks, too (one is here)"));
  CHECK(verdict_of_one(R"("distributedInfo": {"rank": 0, "world_size": 1})").kind ==
        Limit::communication);
}

TEST_CASE("why idle: of ranks that lack others only whole groups tell what moves data") {
  const auto rank = [](int number, const char* reduction, int start_us) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("kernel").x("gemm", 0, start_us, R"({"device": 0, "stream": 7})");
    trace.x("ncclDevKernel_AllReduce(x)", start_us, 1000 - start_us, reduction);
    return std::pair{
        fmt::format("rank{}.json", number),
        trace.object(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 4}})", number))};
  };
  const auto verdict = [&](const char* reduction) {
    return find_verdict(Findings(read_texts({rank(0, reduction, 400), rank(1, reduction, 450)})));
  };
  const Verdict whole = verdict(
      R"({"device": 0, "Collective name": "allreduce", "Process Group Name": "1", "Group size": 2})");
  CHECK(whole.untold.ns == 0);
  CHECK(whole.kind == Limit::communication);
  const Verdict part = verdict(
      R"({"device": 0, "Collective name": "allreduce", "Process Group Name": "1", "Group size": 4})");
  // 550 us of both, from when the later one of those that are here had come.
  CHECK(part.untold.share() == doctest::Approx(0.55));
  CHECK(part.waiting.share() == doctest::Approx(0.025));
  CHECK(verdict_headline(part) == "Verdict: inconclusive (communication or none)");
}

TEST_CASE("why idle: a verdict that hangs on no missing rank is stated") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::mm", 250, 640);
  trace.cat("kernel");
  add_reduction(trace, "ncclDevKernel_AllReduce(x)", 100, 150);
  const Verdict verdict = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(verdict.kind == Limit::launch_bound);
  CHECK(verdict.untold.share() == doctest::Approx(0.15));
}

TEST_CASE("why idle: a host that launches for a device that was not recorded computes nothing") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("cpu_op").x("aten::mm", 0, 900);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 100, 5, linked(1));
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) ==
        "Verdict: inconclusive (the host gives work to a device ('cudaLaunchKernel') that these "
        "traces do not hold)");
  CHECK(verdict.possible == std::vector{Limit::compute, Limit::communication});
  CHECK(says(verdict, "record the device, too"));
}

TEST_CASE("why idle: copies and fills are given to a device as kernels are, by any runtime") {
  for (const char* const call :
       {"hipMemcpyWithStream", "cudaMemsetAsync", "urEnqueueKernelLaunch"}) {
    CAPTURE(call);
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("cpu_op").x("aten::mm", 0, 900);
    trace.cat("cuda_runtime").x(call, 100, 5, linked(1)).x("cudaGetDevice", 110, 5, linked(2));
    CHECK(
        verdict_of(trace).why ==
        fmt::format("the host gives work to a device ('{}') that these traces do not hold", call));
  }
}

TEST_CASE("why idle: names are asked for gradients only where communication may be the verdict") {
  const auto trains = [](int reduction_us) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("kernel").x("gemm_backward", 0, 500);
    add_reduction(trace, "ncclDevKernel_AllReduce(x)", 500, reduction_us);
    return Findings(read_texts({{"rank0.json", trace.array()}})).trains;
  };
  CHECK(trains(100));
  CHECK_FALSE(trains(99));
}

TEST_CASE(
    "why idle: a cut trace of torch.profiler may lack all of one kind, so it has no verdict") {
  TraceText trace = step_with_gap(890);
  const std::string whole = trace.object(R"("schemaVersion": 1, "deviceProperties": [])");
  CHECK(find_verdict(Findings(read_texts({{"rank0.json", whole}}))).kind != Limit::inconclusive);
  // The keys that only torch.profiler writes stand before the events.
  const std::string events = trace.array();
  const std::string cut =
      R"({"schemaVersion": 1, "traceEvents": )" + events.substr(0, events.rfind('}') - 5);
  const Verdict verdict = find_verdict(Findings(read_texts({{"rank0.json", cut}})));
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(
      verdict.why.ends_with("rank0.json is cut off, and torch.profiler does not write events in "
                            "the order of time: all of one kind may be missing"));
  CHECK(texts_of(verdict.advice) == std::vector<std::string>{"record or copy the whole file"});
  const Verdict other =
      find_verdict(Findings(read_texts({{"rank0.json", events.substr(0, events.rfind('}') - 5)}})));
  CHECK(other.why.find("cut off") == std::string::npos);
}

TEST_CASE("why idle: a merge names the ranks that are not here as its inputs do") {
  TraceText trace = step_with_gap(890);
  const Run run = read_texts({{"merged.json", trace.object(R"("otherData": {"ranks": {"0": )"
                                                           R"({"distributedInfo": {"rank": 0, )"
                                                           R"("world_size": 8}}}})")}});
  CHECK(
      says(find_verdict(Findings(run)), "1 of 8 ranks: time in its collectives includes waiting"));
}

TEST_CASE("why idle: the host's call of a collective is no communication of the device") {
  TraceText trace = step_with_gap(890);
  trace.cat("user_annotation").x("nccl:all_reduce", 100, 780);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.shares[Limit::communication].ns == 0);
  CHECK(verdict_headline(verdict) == "Verdict: launch-bound (78.5 % of the mean step)");
}

TEST_CASE("why idle: time after the last event of the host is not recorded") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  trace.cat("kernel").x("gemm", 2, 98, linked(1));
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(verdict.shares[Limit::idle].ns == 0);
  CHECK(verdict.not_recorded.ns == 900'000);
}

TEST_CASE("why idle: advice names what the program has not yet") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::mm", 100, 790);
  CHECK(says(verdict_of(trace), "CUDA graphs, torch.compile, larger batches"));
  trace.cat("user_annotation").x("Torch-Compiled Region: 0/0", 100, 790);
  CHECK_FALSE(says(verdict_of(trace), "torch.compile"));
  TraceText other = step_with_gap(890);
  other.cat("Other").x("PjitFunction(train_step)", 100, 790);
  CHECK(verdict_of(other).advice.at(0).text ==
        "larger batches, fewer synchronisations: the device waits for its host");
}

TEST_CASE("why idle: a call that waits for the whole device has its own advice") {
  TraceText trace = step_with_gap(890);
  trace.cat("cuda_runtime").x("cudaDeviceSynchronize", 120, 765);
  CHECK(verdict_of(trace).advice.at(0).text ==
        "fewer calls of cudaDeviceSynchronize: once in many steps, or events and streams that wait "
        "only for what is needed");
}
