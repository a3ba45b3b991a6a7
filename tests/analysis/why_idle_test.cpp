// The statements of `bottleneck` about idle devices, and the statements that it must not make.
#include "analysis/reports/reports.h"
#include "analysis/work/call_tree.h"
#include "oracle/json_value.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "words_of_verdict.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

// A step of 1000 us, with a kernel of 100 us at its begin and one at its end.
TraceText step_with_gap(int launched_us, int last_stream = 7) {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  trace.x("cudaLaunchKernel", launched_us, 5, linked(2));
  trace.cat("kernel").x("gemm", 2, 98, linked(1));
  trace.x("gemm", 900, 100, linked(2, last_stream));
  return trace;
}

// How a host launches, and how long its kernels take.
struct Launching {
  std::string_view runtime = "cuda_runtime";
  std::string_view call = "cudaLaunchKernel";
  std::string_view host = "cpu_op";
  int kernel_us = 10;
};

// A step of 1000 us with 25 operators of 30 us, each of which launches a kernel in its last 5 us.
TraceText launching_step(const Launching& how = {}) {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  for (int i = 0; i < 25; ++i) {
    const int at = 40 * i;
    trace.cat(how.host).x("aten::mm", at, 30);
    trace.cat(how.runtime).x(how.call, at + 25, 5, linked(i + 1));
    trace.cat("kernel").x("gemm", at + 30, how.kernel_us, linked(i + 1));
  }
  return trace;
}

// Three calls of an operator, one after the other, in which it goes on in the gap: so it recurs.
void add_three(TraceText& trace, const char* name, int from_us, int each_us) {
  trace.cat("cpu_op");
  for (int i = 0; i < 3; ++i) trace.x(name, from_us + i * each_us, each_us);
}

bool says(const Verdict& verdict, std::string_view words) {
  return words_of(verdict).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("why idle: a host that is late with short operators is launch-bound") {
  const Verdict verdict = verdict_of(launching_step());
  CHECK(verdict_headline(verdict) ==
        "Verdict: launch-bound (at most 720.000 us of 1.000 ms, 72.0 % of the mean step)");
  CHECK(verdict.status[Limit::launch_bound] == Status::measured);
  const Remedy& remedy = verdict.remedies.at(0);
  CHECK(remedy.text == "CUDA graphs, torch.compile");
  CHECK(remedy.events == 24);
  CHECK(remedy.longest_ns == 30'000);
  CHECK(remedy.gain.ns == 720'000);
  CHECK(verdict.next == remedy.text + "; see trace-stats launch");
  // The step begins with the operators of the first kernel.
  CHECK(verdict.left_out ==
        std::vector<std::string>{"3.0 % before the first or after the last work of a device"});
}

TEST_CASE("why idle: an operator, or a call, that goes on in the gap is the verdict by its name") {
  TraceText computes = step_with_gap(890);
  computes.cat("cpu_op").x("aten::randn", 100, 790);
  add_three(computes, "aten::normal_", 110, 250);
  const Verdict verdict = verdict_of(computes);
  CHECK(verdict_headline(verdict) ==
        "Verdict: host-operator (at most 750.000 us of 1.000 ms, 75.0 % of the mean step)");
  CHECK(verdict.next ==
        "less of aten::normal_ on the host, or out of the step; see trace-stats ops");
  CHECK(verdict.remedies.at(0).where == "aten::normal_ 750.000 us in aten::randn");
  CHECK(verdict.shares[Limit::launch_bound].ns == 45'000);
  TraceText allocates = step_with_gap(890);
  allocates.cat("cpu_op").x("aten::empty", 105, 785);
  allocates.cat("cuda_runtime").x("cudaMalloc", 120, 765);
  // One step does not show that it recurs.
  CHECK(verdict_headline(verdict_of(allocates)) ==
        "Verdict: inconclusive (most of the step is in long operators and calls that are not known "
        "to recur)");
  CHECK(
      says(verdict_of(allocates),
           "76.5 % in operators and calls of 200 us or more, and one step does not show that they "
           "recur: cudaMalloc 765.000 us in aten::empty"));
  // So is an operator that launches the next work only after that time; compiled code is not.
  const auto kind_in = [](const char* name) {
    TraceText launches = step_with_gap(890);
    add_three(launches, name, 100, 265);
    return verdict_of(launches).kind;
  };
  CHECK(kind_in("aten::mm") == Limit::host_operator);
  CHECK(kind_in("Torch-Compiled Region: 0/0") == Limit::launch_bound);
}

TEST_CASE("why idle: nothing recommends graphs where there are none, they replay or are captured") {
  const Launching xpu{.runtime = "xpu_runtime", .call = "urEnqueueKernelLaunch"};
  CHECK(verdict_of(launching_step(xpu)).remedies.at(0).text == "torch.compile");
  TraceText replays = launching_step();
  replays.cat("cuda_runtime").x("cudaGraphLaunch", 5, 1, R"({"correlation": 99})");
  CHECK(verdict_of(replays).kind == Limit::launch_bound);
  CHECK_FALSE(says(verdict_of(replays), "CUDA graphs"));
  const auto captures_until = [](int us) {
    TraceText trace = launching_step();
    trace.cat("cuda_runtime").x("cudaStreamBeginCapture_v2", 40, 1);
    return trace.x("cudaStreamEndCapture_v2", us, 1);
  };
  const Verdict short_capture = verdict_of(captures_until(68));
  CHECK(short_capture.kind == Limit::launch_bound);
  CHECK(short_capture.shares[Limit::launch_bound].ns == 720'000 - 29'000);
  CHECK_FALSE(says(short_capture, "CUDA graphs"));
  CHECK(says(short_capture, "2.9 % in which a graph is captured"));
  const Verdict captures = verdict_of(captures_until(968));
  CHECK(verdict_headline(captures) ==
        "Verdict: inconclusive (most of the step is a capture of a graph)");
  CHECK(captures.next ==
        "record steps that replay the graph, which is only captured here; see trace-stats steps");
}

TEST_CASE("why idle: a call that blocks is the verdict, with its callers and its time") {
  TraceText trace = step_with_gap(890);
  trace.cat("cpu_op").x("aten::to", 105, 785).x("aten::copy_", 110, 780);
  trace.cat("cuda_runtime").x("cudaMemcpyAsync", 120, 765);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) ==
        "Verdict: blocked (at most 765.000 us of 1.000 ms, 76.5 % of the mean step)");
  CHECK(verdict.remedies.at(0).where == "cudaMemcpyAsync 765.000 us in aten::copy_");
  CHECK(verdict.next ==
        "fewer calls of cudaMemcpyAsync: pinned memory with non_blocking, fewer values read; see "
        "trace-stats idle");
  CHECK(verdict.shares[Limit::launch_bound].ns == 25'000);
  const Account account = Findings(read_step(trace)).account;
  REQUIRE(account[AccountRow::blocked].names.size() == 1);
  CHECK(account[AccountRow::blocked].names[0].callers == "aten::copy_, aten::to");
  CHECK(account[AccountRow::blocked].names[0].n == 1);
}

TEST_CASE("why idle: work that was launched long ago is no fault of its host, whatever it does") {
  // In its own stream there is nothing to wait for, behind another one there may be.
  for (const auto& [stream, limit] :
       {std::pair{7, Limit::turn_around}, std::pair{8, Limit::queued}}) {
    TraceText trace = step_with_gap(50, stream);
    trace.cat("cpu_op").x("aten::mm", 60, 900);
    trace.cat("cuda_runtime").x("cudaDeviceSynchronize", 110, 700);
    const Verdict verdict = verdict_of(trace);
    CHECK(verdict_headline(verdict) ==
          fmt::format("Verdict: {} (at most 800.000 us of 1.000 ms, 80.0 % of the mean step)",
                      limit_name(limit)));
    CHECK(verdict.shares[Limit::launch_bound].ns == 0);
    CHECK(verdict.shares[Limit::blocked].ns == 0);
    CHECK(says(verdict, "what else uses the device"));
  }
}

TEST_CASE("why idle: Python's functions explain a host without operators") {
  TraceText trace = step_with_gap(890);
  trace.cat("python_function").x("train.py(1): <module>", 0, 1000);
  trace.x("data/video.py(12): preprocess", 110, 700).x("data/video.py(40): decode", 120, 600);
  trace.x("train.py(9): loss", 820, 60);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict_headline(verdict) ==
        "Verdict: host-code (at most 795.000 us of 1.000 ms, 79.5 % of the mean step)");
  CHECK(says(verdict, "less Python in preprocess (data/video.py): faster"));
  const std::vector<FrameSum> frames = Findings(read_step(trace)).account.frames;
  REQUIRE(frames.size() >= 2);
  CHECK(frames[0].text() == "preprocess (data/video.py)");
  CHECK(frames[0].ns == 700'000);
  CHECK(frames[0].inner == "decode (data/video.py)");
  CHECK(frames[0].inner_ns == 600'000);
  CHECK(frames[1].text() == "loss (train.py)");
  CHECK(frames[1].ns == 60'000);
  CHECK_FALSE(says(verdict, "record what the host does"));
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
  // The first work waited 300 us for what ran before: the device was busy.
  TraceText excerpt;
  excerpt.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  excerpt.cat("cpu_op").x("aten::mm", 0, 100);
  excerpt.cat("cuda_runtime").x("cudaLaunchKernel", 90, 5, linked(1));
  excerpt.cat("kernel").x("gemm", 400, 600, linked(1));
  const Verdict busy = verdict_of(excerpt);
  CHECK(verdict_headline(busy) ==
        "Verdict: compute (at most 600.000 us of 1.000 ms, 60.0 % of the mean step)");
  for (const Limit limit : kGapLimits) CHECK(busy.shares[limit].ns == 0);
  CHECK(busy.not_recorded.ns == 0);
  CHECK(busy.left_out ==
        std::vector<std::string>{"40.0 % before the first or after the last work of a device: "
                                 "(nothing recorded) 300.000 us"});
  // The launch of the second kernel was not recorded, so the reason of the gap before it is
  // unknown.
  TraceText lost;
  lost.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
  lost.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
  lost.cat("kernel").x("gemm", 2, 98, linked(1)).x("gemm", 600, 400, linked(77));
  const Verdict unknown = verdict_of(lost);
  CHECK(unknown.kind == Limit::inconclusive);
  CHECK(unknown.not_recorded.ns == 500'000);
  CHECK(unknown.why == "50.0 % of the mean step is without a recorded reason why no device works");
  CHECK(unknown.next == "record whole steps, and host and device together; see trace-stats idle");
}

TEST_CASE("why idle: ranks that are not here are told, always") {
  TraceText trace = step_with_gap(890);
  const Verdict one = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(says(one, "1 of 8 ranks: its collectives include waiting for the others"));
  const Verdict all = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 1})");
  CHECK_FALSE(says(all, "include waiting"));
}

TEST_CASE("why idle: JSON has the evidence of each share, of the verdict and of remedies") {
  TraceText trace = step_with_gap(890);
  add_three(trace, "aten::mm", 100, 260);
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
  const oracle::Json& remedy = verdict.find("remedies")->items.at(0);
  CHECK(remedy.find("limit")->text == "host-operator");
  CHECK(remedy.find("n")->text == "3");
  CHECK(remedy.find("ns")->text == "780000");
  CHECK(remedy.find("longest_ns")->text == "260000");
  CHECK(remedy.find("see")->text == "ops");
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
  // One remedy is about waiting, whatever the verdict is: two messages, each with two ends.
  const oracle::Json json = oracle::parse_json(answer.report.values.at(0).second);
  const std::vector<oracle::Json>& remedies = json.find("remedies")->items;
  const auto remedy = std::ranges::find_if(remedies, [](const oracle::Json& one) {
    return one.find("remedy")->text.starts_with("more micro-batches");
  });
  REQUIRE(remedy != remedies.end());
  CHECK(remedy->find("limit")->text == "communication");
  CHECK(remedy->find("part")->text == "waiting");
  CHECK(remedy->find("share")->text == "0.49");
  CHECK(remedy->find("n")->text == "4");
  CHECK(remedy->find("status")->text == "measured");
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

TEST_CASE("why idle: the remedy of a pipeline is for what moves most of the data") {
  const Verdict inner = verdict_of_stages(true, 20);
  CHECK(verdict_headline(inner) ==
        "Verdict: compute (at most 770.000 us of 1.000 ms, 77.0 % of the mean step of 2 ranks)");
  CHECK(inner.gains[Limit::communication].share() == doctest::Approx(0.23));
  CHECK(
      says(inner,
           "less communication, first of tensor- or expert-parallel groups: smaller, in one host"));
  CHECK_FALSE(says(inner, "larger buckets"));
  const Verdict messages = verdict_of_stages(false, 100);
  CHECK(
      says(messages, "overlap of communication with computing, first of messages between stages"));
  CHECK_FALSE(says(messages, "larger buckets"));
  const Verdict end = verdict_of_stages(false, 20);
  CHECK(says(end, "larger buckets"));
}

TEST_CASE("why idle: collectives that take milliseconds are not too small") {
  for (const int us : {1500, 2500}) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000 + us);
    trace.cat("kernel").x("gemm_backward", 0, 1000, R"({"device": 0, "stream": 7})");
    add_reduction(trace, "ncclDevKernel_AllReduce(x)", 1000, us);
    const Verdict verdict = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 2})");
    CHECK(verdict.remedies.at(0).text ==
          (us < 2000 ? "larger buckets or batches, overlap with the backward pass"
                     : "overlap with the backward pass, lower precision of what is sent, a faster "
                       "network"));
  }
}

TEST_CASE("why idle: one rank of several tells communication from waiting for nobody") {
  const Verdict verdict = verdict_of_one(R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(verdict_headline(verdict) == "Verdict: inconclusive (communication or compute)");
  CHECK(verdict.shares[Limit::communication].share() == doctest::Approx(0.62));
  CHECK(verdict.shares[Limit::communication].is_known());
  CHECK(verdict.untold.share() == doctest::Approx(0.62));
  CHECK(verdict.status[Limit::communication] == Status::inferred);
  CHECK(says(verdict, "62.0 % moving data or waiting for ranks that are not here"));
  CHECK(says(verdict, "1 of 8 ranks: its collectives include waiting for the others"));
  CHECK(verdict.next ==
        "record the other ranks, too (1 of 8 are here), to tell moving from waiting; see "
        "trace-stats comm");
}

TEST_CASE("why idle: one rank that communicates with nobody knows how many is one of several") {
  const Verdict verdict = verdict_of_one("");
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(says(verdict, "1 rank of a job of unknown size"));
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
  CHECK(verdict_headline(part) == "Verdict: inconclusive (communication or compute)");
}

TEST_CASE("why idle: a verdict that hangs on no missing rank is stated") {
  TraceText trace = step_with_gap(890);
  add_three(trace, "aten::mm", 250, 210);
  trace.cat("kernel");
  add_reduction(trace, "ncclDevKernel_AllReduce(x)", 100, 150);
  const Verdict verdict = verdict_of(trace, R"("distributedInfo": {"rank": 0, "world_size": 8})");
  CHECK(verdict.kind == Limit::host_operator);
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

TEST_CASE("why idle: names are asked for gradients only where a sentence depends on them") {
  const auto trains = [](int reduction_us, bool has_loader = true) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    if (has_loader)
      trace.cat("user_annotation")
          .x("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 9);
    trace.cat("kernel").x("gemm_backward", 0, 500);
    add_reduction(trace, "ncclDevKernel_AllReduce(x)", 500, reduction_us);
    return Findings(read_texts({{"rank0.json", trace.array()}})).trains;
  };
  CHECK(trains(10));
  CHECK_FALSE(trains(9));
  CHECK(trains(9, false));
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
  CHECK(verdict.next == "record or copy the whole file; see trace-stats check");
  const Verdict other =
      find_verdict(Findings(read_texts({{"rank0.json", events.substr(0, events.rfind('}') - 5)}})));
  CHECK(other.why.find("cut off") == std::string::npos);
}

TEST_CASE("why idle: a merge names the ranks that are not here as its inputs do") {
  TraceText trace = step_with_gap(890);
  const Run run = read_texts({{"merged.json", trace.object(R"("otherData": {"ranks": {"0": )"
                                                           R"({"distributedInfo": {"rank": 0, )"
                                                           R"("world_size": 8}}}})")}});
  CHECK(says(find_verdict(Findings(run)),
             "1 of 8 ranks: its collectives include waiting for the others"));
}

TEST_CASE("why idle: the host's call of a collective is no communication of the device") {
  TraceText trace = step_with_gap(890);
  trace.cat("user_annotation").x("nccl:all_reduce", 100, 780);
  const Verdict verdict = verdict_of(trace);
  CHECK(verdict.shares[Limit::communication].ns == 0);
  CHECK(verdict.gains[Limit::communication].ns == 0);
  CHECK(verdict.shares[Limit::compute].ns == 198'000);
}

TEST_CASE("why idle: time after the last work of a device is in no verdict") {
  for (const bool host_goes_on : {false, true}) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 0, 1, linked(1));
    trace.cat("kernel").x("gemm", 2, 98, linked(1));
    if (host_goes_on) trace.cat("cpu_op").x("aten::normal_", 100, 900);
    const Verdict verdict = verdict_of(trace);
    CHECK(verdict_headline(verdict) ==
          "Verdict: inconclusive (most of the step is before the first or after the last work of "
          "the device)");
    for (const Limit limit : kGapLimits) CHECK(verdict.shares[limit].ns == 0);
    CHECK(verdict.not_recorded.ns == 0);
    CHECK(verdict.left_out.at(0) ==
          fmt::format("90.2 % before the first or after the last work of a device: {}",
                      host_goes_on ? "aten::normal_ 900.000 us" : "(nothing recorded) 901.000 us"));
  }
}

TEST_CASE("why idle: remedies name what the program has not yet") {
  const auto remedy = [](const TraceText& trace) { return verdict_of(trace).remedies.at(0).text; };
  TraceText trace = launching_step({.kernel_us = 4});
  CHECK(remedy(trace) == "CUDA graphs, torch.compile, larger batches");
  trace.cat("user_annotation").x("Torch-Compiled Region: 0/0", 0, 1);
  CHECK(remedy(trace) == "CUDA graphs, larger batches");
  CHECK(remedy(launching_step({.host = "Other", .kernel_us = 4})) == "larger batches");
  CHECK(remedy(launching_step({.host = "Other"})) == "less work of the host between launches");
}

TEST_CASE("why idle: a call that waits for the whole device has its own remedy") {
  TraceText trace = step_with_gap(890);
  trace.cat("cuda_runtime").x("cudaDeviceSynchronize", 120, 765);
  CHECK(verdict_of(trace).next ==
        "fewer calls of cudaDeviceSynchronize: events that wait only for what is needed; see "
        "trace-stats idle");
}

TEST_CASE("why idle: a call that does not recur is in no gain") {
  // Three steps, and in one of them, or in all, the host loads a module for 500 us.
  const auto verdict = [](int times) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      const int at = 1000 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 1000);
      // Each time in another operator.
      trace.cat("cpu_op").x(fmt::format("aten::op_{}", step), at + 205, step < times ? 510 : 20);
      trace.cat("cuda_runtime").x("cudaLaunchKernel", at, 1, linked(2 * step + 1));
      if (step < times) trace.x("cuModuleLoadData", at + 210, 500);
      trace.x("cudaLaunchKernel", at + 745, 5, linked(2 * step + 2));
      trace.cat("kernel").x("gemm", at + 1, 199, linked(2 * step + 1));
      trace.x("gemm", at + 750, 250, linked(2 * step + 2));
    }
    return verdict_of(trace);
  };
  CHECK(verdict(1).gains[Limit::host_call].ns == 0);
  CHECK(verdict(1).kind == Limit::idle);
  CHECK(
      says(verdict(1),
           "16.7 % in operators and calls that took 200 us or more in less than half of the steps: "
           "cuModuleLoadData 166.667 us in aten::op_0"));
  CHECK(verdict(3).kind == Limit::host_call);
  CHECK(says(verdict(3), "no cuModuleLoadData within the steps"));
  CHECK(verdict(3).gains[Limit::host_call].ns == 1'500'000);
}
