#include "analysis/reports/reports.h"
#include "analysis/verdict/verdict_words.h"
#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/simulated_job.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

using namespace traceloom;

namespace {

using Program = SimulatedJob::Program;

Verdict verdict_of(const JobTraces::Files& files) {
  return find_verdict(Findings(read_texts(files)));
}

ReportRow account_row(const Report& report, std::string_view title) {
  for (const ReportRow& row : rows_of(report, "account"))
    if (text_in(row, "row") == title) return row;
  throw std::runtime_error(fmt::format("no row {}", title));
}

// A step of 100 us on the device of a job's only rank, with these spans in it.
Verdict verdict_on_device(TraceText trace) {
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 100);
  return verdict_of(
      {{"rank0.json", trace.object(R"("distributedInfo": {"rank": 0, "world_size": 1})")}});
}

}  // namespace

TEST_CASE("bottleneck: the largest gain is the verdict, and one below 1 percent is none") {
  JobTraces job{.ranks = 1};
  job.loader_us[0] = 60;
  job.work_us[0] = 30;
  const Verdict loads = verdict_of(job.torch());
  CHECK(verdict_headline(loads) ==
        "Verdict: data-loading (at most 60.000 us of 100.000 us, 60.0 % of the mean step)");
  CHECK(loads.remedies.size() == 3);  // less work and communication, too
  job.loader_us[0] = 6;
  job.work_us[0] = 84;
  const Verdict computes = verdict_of(job.torch());
  CHECK(verdict_headline(computes) ==
        "Verdict: compute (at most 84.000 us of 100.000 us, 84.0 % of the mean step)");
  CHECK(computes.shares[Limit::data_loading].share() == 0.06);
  CHECK(computes.remedies.at(2).limit == Limit::data_loading);
  CHECK(computes.remedies.at(2).gain.share() == 0.06);
  job.work_us[0] = 584;
  job.meeting_us = 100;
  const Verdict rarely = verdict_of(job.torch());
  CHECK(rarely.gains[Limit::data_loading].share() < kWorthNaming);
  CHECK(rarely.remedies.size() == 2);
}

TEST_CASE("bottleneck: compute gains the time of the kernels of one name") {
  TraceText trace;
  trace.cat("kernel");
  for (int i = 0; i < 4; ++i) trace.x(fmt::format("gemm_{}", i), 15 * i, 15);
  const Verdict verdict = verdict_on_device(trace.x("ncclDevKernel_X", 60, 20).x("gemm_0", 80, 3));
  CHECK(verdict_headline(verdict) ==
        "Verdict: communication (at most 20.000 us of 100.000 us, 20.0 % of the mean step)");
  CHECK(verdict.shares[Limit::compute].ns == 63'000);
  CHECK(verdict.gains[Limit::compute].ns == 18'000);
  CHECK(verdict.remedies.at(1).where == "gemm_0 18.000 us");
}

TEST_CASE("bottleneck: kernels of one name beside each other gain no more than their time") {
  TraceText trace;
  trace.cat("kernel").x("gemm", 0, 50).x("tiny", 50, 10).tid("8").x("gemm", 0, 50);
  const Verdict verdict = verdict_on_device(trace);
  CHECK(verdict.shares[Limit::compute].ns == 60'000);
  // The share of its summed times would be 100 parts of 110 of 60 us.
  CHECK(verdict.gains[Limit::compute].ns == 50'000);
}

TEST_CASE("bottleneck: a straggler is named, and its loader where that is the cause") {
  JobTraces job;
  job.work_us[2] = 100;
  Verdict verdict = verdict_of(job.torch());
  CHECK(verdict.kind == Limit::straggler);
  CHECK(verdict.rank == 2);
  CHECK(verdict.named_rank == 2);
  job.work_us.clear();
  job.loader_us[3] = 100;
  verdict = verdict_of(job.composer());
  CHECK(verdict.kind == Limit::data_loading);
  CHECK(verdict.rank == 3);
}

TEST_CASE("bottleneck: ranks that cannot be told apart make it inconclusive") {
  JobTraces job;
  job.work_us[1] = job.work_us[3] = 200;
  const Verdict verdict = verdict_of(job.composer());
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK_FALSE(verdict.rank);
  CHECK(verdict.named_rank == 1);
  CHECK(verdict.possible == std::vector{Limit::straggler, Limit::data_loading});
  CHECK(verdict_headline(verdict) == "Verdict: inconclusive (ranks 1 or 3 hold up the others)");
  CHECK(verdict.evidence.back().starts_with("ranks 1 or 3: the others wait 160.000 us a step"));
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
  CHECK(verdict.cost(Limit::straggler).share() == 0.5);
  CHECK(verdict.next == "look at rank 1 first (cause: idle); see trace-stats stragglers");
  verdict = verdict_of({rank(0, 50), rank(1, 55)});
  CHECK(verdict.kind == Limit::idle);
  CHECK_FALSE(verdict.rank);
  CHECK(verdict.named_rank == 1);
}

TEST_CASE("bottleneck: each limit of a device is told from the others") {
  // Work at both ends of the step, so that what is between them is in it.
  const auto kind = [](std::string_view category, std::string_view name) {
    TraceText trace;
    trace.cat("kernel").x("gemm", 0, 20).x("gemm", 90, 10);
    if (!name.empty()) trace.cat(category).x(name, 20, 70);
    return verdict_on_device(trace).kind;
  };
  CHECK(kind("kernel", "gemm") == Limit::compute);
  CHECK(kind("kernel", "ncclDevKernel_X") == Limit::communication);
  CHECK(kind("gpu_memcpy", "Memcpy HtoD") == Limit::memory);
  CHECK(kind("gpu_memset", "Memset") == Limit::memory);
  CHECK(kind("user_annotation", "enumerate(DataLoader)#It.__next__") == Limit::data_loading);
  CHECK(kind("cpu_op", "aten::mm") == Limit::launch_bound);
  CHECK(kind("cuda_runtime", "cudaDeviceSynchronize") == Limit::blocked);
  CHECK(kind("", "") == Limit::idle);
  // Nothing is known of a device before its first work and after its last.
  CHECK(verdict_on_device(TraceText().cat("kernel").x("gemm", 20, 60)).kind == Limit::compute);
  CHECK(verdict_on_device(TraceText().cat("kernel").x("gemm", 20, 40)).kind == Limit::inconclusive);
}

TEST_CASE("bottleneck: iterations of an engine that are no steps are counted in a note") {
  TraceText trace;
  trace.cat("user_annotation").x("step[DECODE bs=2]", 0, 100).x("step[IDLE bs=0]", 100, 50);
  trace.x("step[IDLE bs=0]", 150, 50).x("step[DECODE bs=2]", 200, 100);
  const Report report = bottleneck_report(read_texts({{"rank0.json", trace.array()}})).report;
  CHECK(std::ranges::count(report.notes,
                           "rank 0: iterations that are neither prefill nor decode (step[IDLE "
                           "...], no requests): 2; they count in no mean") == 1);
}

TEST_CASE("bottleneck: nothing to look at is inconclusive, not an error") {
  const Verdict verdict = verdict_of({{"rank0.json", "[]"}});
  CHECK(verdict.kind == Limit::inconclusive);
  CHECK(verdict_headline(verdict) == "Verdict: inconclusive");
  CHECK(verdict.evidence.at(0) == "no steps: nothing to take a share of");
}

TEST_CASE("bottleneck: shares are of the steps that the page names, and add up to at most all") {
  JobTraces job;
  job.loader_us[3] = 60;
  for (const JobTraces::Files& files : {job.torch(), job.composer()}) {
    const Run run = read_texts(files);
    const BottleneckAnswer answer = bottleneck_report(run);
    const Verdict& verdict = answer.verdict;
    CHECK(verdict_headline(verdict) ==
          "Verdict: data-loading (at most 60.000 us of 110.000 us, 54.5 % of rank 3's mean step), "
          "rank 3");
    std::int64_t sum_ns = 0;
    for (std::size_t i = 0; i < kLimitCount; ++i) {
      const LimitShare& share = verdict.shares[static_cast<Limit>(i)];
      CHECK(share.of.rank == 3);
      CHECK(share.of_ns == 550'000);
      sum_ns += share.ns;
    }
    CHECK(sum_ns == 550'000);
    CHECK(verdict.shares[Limit::data_loading].ns == 300'000);
    const Report loader = dataloader_report(run);
    CHECK(loader.headline.at(0).starts_with("Input wait: 54.5 % of rank 3's mean step is exposed"));
    CHECK(share_in(rows_of(loader, "rows").at(3), "exposed_share") ==
          verdict.shares[Limit::data_loading].share());
    CHECK(share_in(rows_of(steps_report(run, {}), "shares").at(3), "dataloader") ==
          verdict.shares[Limit::data_loading].share());
    CHECK(number_in(account_row(answer.report, "dataloader"), "mean_ns") == 60'000);
  }
}

TEST_CASE("bottleneck: where nobody holds up the others the shares are those of all ranks") {
  JobTraces job;
  for (int rank = 0; rank < 4; ++rank) job.loader_us[rank] = 60 + rank;
  const Run run = read_texts(job.torch());
  const BottleneckAnswer answer = bottleneck_report(run);
  CHECK(verdict_headline(answer.verdict) ==
        "Verdict: data-loading (at most 61.500 us of 113.000 us, 54.4 % of the mean step of 4 "
        "ranks)");
  const std::vector<ReportRow> mean = rows_of(steps_report(run, {}), "mean");
  for (const auto& [role, title] :
       {std::pair{Role::communication, "communication"}, std::pair{Role::dataloader, "dataloader"},
        std::pair{Role::cpu, "host-operator"}}) {
    const ReportRow row = account_row(answer.report, title);
    const ReportRow& of_steps = mean.at(static_cast<std::size_t>(role));
    CHECK(number_in(row, "mean_ns") == number_in(of_steps, "mean_ns"));
    CHECK(share_in(row, "share") == share_in(of_steps, "share"));
  }
  CHECK(answer.verdict.shares[Limit::data_loading].share() ==
        share_in(account_row(answer.report, "dataloader"), "share"));
}

TEST_CASE("bottleneck: late data of one rank or another is told beside the mean of all") {
  const Verdict verdict = verdict_of(
      SimulatedJob{.program = [](int rank, int step) -> Program {
        return {{"user_annotation", "enumerate(DataLoader)#It.__next__", rank == step % 4 ? 80 : 0},
                {"kernel", "gemm", 15},
                {"kernel", "ncclDevKernel_AllReduce", 5, "0"}};
      }}.files());
  CHECK(verdict_headline(verdict) ==
        "Verdict: data-loading (at most 80.000 us of 100.000 us, 80.0 % of the mean step of 4 "
        "ranks)");
  CHECK(verdict.shares[Limit::data_loading].share() == 0.2);
  CHECK(verdict.shares[Limit::communication].share() == 0.65);
  CHECK(verdict.waiting.share() == 0.6);
  CHECK(fmt::format("{}", fmt::join(verdict.evidence, "; ")) ==
        "communication 65.0 % of the mean step of 4 ranks: 5.0 % moving data, 60.0 % waiting for "
        "other ranks; late data: the rank whose data comes last, one or another, waits 80.000 us a "
        "step (80.0 % of the mean step of 4 ranks); changing ranks: the others wait 80.000 us a "
        "step for one or another");
  CHECK(verdict.gains[Limit::communication].share() == doctest::Approx(0.05));
}

TEST_CASE("bottleneck: what event/backward hides makes it inconclusive where that matters") {
  const Verdict verdict = verdict_of(JobTraces{.meeting_us = 60}.composer());
  CHECK(verdict_headline(verdict) == "Verdict: inconclusive (compute or communication)");
  CHECK(verdict.possible == std::vector{Limit::compute, Limit::communication});
  const LimitShare& communication = verdict.shares[Limit::communication];
  CHECK(communication.least_ns == 0);
  CHECK(communication.most_ns == 4 * 5 * 60'000);
  // However much of 10 us is communication, half of event/forward takes more.
  CHECK(verdict_of(JobTraces{.meeting_us = 10}.composer()).kind == Limit::compute);
  JobTraces slow;
  for (int rank = 0; rank < 4; ++rank) slow.loader_us[rank] = 100;
  CHECK(verdict_of(slow.composer()).kind == Limit::data_loading);
}

TEST_CASE("bottleneck: rank 0 waits in event/forward for the rank whose data is late") {
  // DDP sends rank 0's buffers to all: rank 0 waits for rank 2 there, and both come last together.
  JobTraces job;
  job.loader_us[2] = 105;
  job.work_us[0] = 140;
  const Run run = read_texts(job.composer());
  const Verdict verdict = find_verdict(Findings(run));
  CHECK(verdict_headline(verdict) ==
        "Verdict: data-loading (at most 105.000 us of 155.000 us, 67.7 % of rank 2's mean step), "
        "rank 2");
  CHECK(verdict.evidence.back() ==
        "rank 2: the others wait 100.000 us a step (64.5 % of rank 2's mean step); cause: "
        "dataloader (dataloader takes 100.000 us a step longer than on the median of the others; "
        "rank 0 is taken to wait in event/forward, where DDP sends its buffers)");
  // A rank 0 that comes later than all others waits for no rank.
  job.loader_us[2] = 5;
  CHECK(find_verdict(Findings(read_texts(job.composer()))).rank == 0);
}

TEST_CASE(
    "bottleneck: the loader of rank 0 is named, for whose buffers the others wait in forward") {
  JobTraces job;
  job.loader_us[0] = 105;
  for (const int rank : {1, 2, 3}) job.work_us[rank] = 140;
  const Verdict verdict = verdict_of(job.composer());
  CHECK(verdict_headline(verdict) ==
        "Verdict: data-loading (at most 105.000 us of 155.000 us, 67.7 % of rank 0's mean step), "
        "rank 0");
  // No rank is named if all wait equally long for their data, or if there are only three steps.
  for (const int rank : {1, 2, 3}) job.loader_us[rank] = 98, job.work_us[rank] = 47;
  CHECK_FALSE(verdict_of(job.composer()).rank);
  job = {.steps = 3, .loader_us = {{0, 105}}, .work_us = {{1, 140}, {2, 140}, {3, 140}}};
  CHECK_FALSE(verdict_of(job.composer()).rank);
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

TEST_CASE("bottleneck: files of several runs in one command are noted") {
  const auto recording = [](int at, int first_id) {
    TraceText trace;
    trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", at / 100), at, 100);
    for (int i = 0; i < 2; ++i) {
      const std::string linked =
          fmt::format(R"({{"device": 0, "stream": 7, "correlation": {}}})", first_id + i);
      trace.cat("cuda_runtime").x("cudaLaunchKernel", at + 40 * i, 1, linked);
      trace.cat("kernel").x("gemm", at + 40 * i + 2, 38, linked);
    }
    return trace.object(R"("distributedInfo": {"rank": 0, "world_size": 1})");
  };
  const auto notes_of = [&](int second_id) {
    return bottleneck_report(read_texts({{"a/rank0.json", recording(0, 7)},
                                         {"b/rank0.json", recording(5'000, second_id)}}))
        .report.notes;
  };
  const std::string several =
      "rank 0: files of several runs (the ids of launches begin again), which this page counts "
      "together: give the files of one run";
  CHECK(std::ranges::count(notes_of(7), several) == 1);
  CHECK(std::ranges::count(notes_of(8), several) == 1);
  CHECK(std::ranges::count(notes_of(9), several) == 0);  // two cycles of one process
}

TEST_CASE("bottleneck: only a training is said to lack a loader") {
  const auto says_loader = [](const char* kernel) {
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    trace.cat("kernel").x(kernel, 0, 900);
    return std::ranges::count(verdict_of({{"rank0.json", trace.array()}}).evidence,
                              "the data loader is not instrumented: its share is not known");
  };
  CHECK(says_loader("gemm_backward") == 1);
  CHECK(says_loader("gemm") == 0);
}
