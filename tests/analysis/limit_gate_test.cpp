#include "analysis/verdict/verdict.h"
#include "support/job_traces.h"
#include "support/run_texts.h"
#include "support/simulated_job.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

GateResult judge_job(const JobTraces::Files& files, const LimitGate& gate) {
  return judge(gate, find_verdict(Findings(read_texts(files))));
}

// Every rank waits 30 of 60 us for its data.
JobTraces slow_loaders() {
  JobTraces job;
  for (int rank = 0; rank < job.ranks; ++rank) job.loader_us[rank] = 30, job.work_us[rank] = 20;
  return job;
}

}  // namespace

TEST_CASE("gates: a limit fails above its share, or when it is the verdict") {
  const JobTraces::Files files = slow_loaders().torch();
  const GateResult fails = judge_job(files, {Limit::data_loading, 0.49});
  CHECK(fails.answer == GateAnswer::fails);
  CHECK(fails.why == "data-loading takes 50.0 % of the mean step of 4 ranks");
  CHECK(judge_job(files, {Limit::data_loading, 0.5}).answer == GateAnswer::passes);
  const GateResult verdict = judge_job(files, {Limit::data_loading});
  CHECK(verdict.answer == GateAnswer::fails);
  CHECK(verdict.why == "data-loading is the verdict: it takes 50.0 % of the mean step of 4 ranks");
  CHECK(judge_job(files, {Limit::straggler}).answer == GateAnswer::passes);
  CHECK(judge_job(files, {Limit::straggler, 0.01}).answer == GateAnswer::passes);
}

TEST_CASE("gates: what the others wait for a rank fails the gate of a straggler") {
  JobTraces job;
  job.work_us[2] = 100;
  const GateResult result = judge_job(job.torch(), {Limit::straggler, 0.5});
  CHECK(result.answer == GateAnswer::fails);
  CHECK(result.why == "straggler makes the others wait 52.2 % of rank 2's mean step");
  CHECK(judge_job(job.torch(), {Limit::straggler, 0.6}).answer == GateAnswer::passes);
}

TEST_CASE("gates: a delay fails the gate of a straggler also where no rank stands out") {
  JobTraces job;
  job.steps = 2;
  job.work_us[2] = 45;
  CHECK_FALSE(Findings(read_texts(job.torch())).straggler.rank.has_value());
  const GateResult result = judge_job(job.torch(), {Limit::straggler, 0.05});
  CHECK(result.answer == GateAnswer::fails);
  CHECK(result.why ==
        "straggler: the others wait 8.3 % of the mean step of 4 ranks for whichever rank comes "
        "last, and no rank stands out");
  CHECK(judge_job(job.torch(), {Limit::straggler, 0.09}).answer == GateAnswer::passes);
  CHECK(judge_job(job.torch(), {Limit::straggler}).answer == GateAnswer::passes);
}

TEST_CASE("gates: what cannot be measured is no pass") {
  const auto why = [](const JobTraces::Files& files, const LimitGate& gate) {
    const GateResult result = judge_job(files, gate);
    CHECK(result.answer == GateAnswer::unknown);
    return result.why;
  };
  const JobTraces::Files alone{
      {"rank0.json", TraceText().cat("cpu_op").x("aten::mm", 0, 10).array()}};
  CHECK(why(alone, {Limit::data_loading, 0.5}) ==
        "data-loading cannot be measured: the data loader is not instrumented");
  CHECK(why(alone, {Limit::straggler}) ==
        "straggler cannot be measured: one rank only, which is compared with nobody");
  CHECK(why(alone, {Limit::idle, 0.5}) ==
        "idle cannot be measured: no device activity in these traces");
  CHECK(why({{"rank0.json", "[]"}}, {Limit::compute, 0.5}) ==
        "compute cannot be measured: there are no steps to take a share of");
  CHECK(why(JobTraces{.steps = 1}.torch(), {Limit::straggler}) ==
        "straggler cannot be measured: one step is not enough to compare ranks");
  const auto one = [](int rank) {
    return std::pair{"rank" + std::to_string(rank) + ".json",
                     TraceText().cat("cpu_op").x("aten::mm", 0, 10).array()};
  };
  CHECK(why({one(0), one(1)}, {Limit::communication}) ==
        "communication cannot be measured: no collectives were recorded");
  // A limit of all that there is is never exceeded.
  CHECK(judge_job(alone, {Limit::data_loading, 1.0}).answer == GateAnswer::passes);
}

TEST_CASE("gates: communication in event/backward is measured as far as its bounds tell") {
  const JobTraces::Files files = slow_loaders().composer();  // backward: 10 of 60 us
  CHECK(judge_job(files, {Limit::communication, 0.17}).answer == GateAnswer::passes);
  const GateResult result = judge_job(files, {Limit::communication, 0.16});
  CHECK(result.answer == GateAnswer::unknown);
  CHECK(result.why ==
        "communication cannot be measured: event/backward holds computing and communication, and "
        "no collectives were recorded");
  // Data loading is the verdict however much of that is communication.
  CHECK(judge_job(files, {Limit::communication}).answer == GateAnswer::passes);
  const JobTraces::Files open = JobTraces{.meeting_us = 60}.composer();
  CHECK(judge_job(open, {Limit::data_loading}).answer == GateAnswer::passes);
  for (const Limit limit : {Limit::compute, Limit::communication}) {
    const GateResult may_be = judge_job(open, {limit});
    CHECK(may_be.answer == GateAnswer::unknown);
    CHECK(may_be.why ==
          fmt::format("{} may be the verdict, which is inconclusive: compute or communication",
                      limit_name(limit)));
  }
}

TEST_CASE("gates: a gain fails above its share, whatever time its limit takes") {
  const auto judge_gain = [](const JobTraces::Files& files, Limit limit, double share) {
    return judge_job(files, {.limit = limit, .share = share, .of_gain = true});
  };
  const JobTraces::Files files = slow_loaders().torch();
  const GateResult fails = judge_gain(files, Limit::data_loading, 0.49);
  CHECK(fails.answer == GateAnswer::fails);
  CHECK(fails.why ==
        "gain:data-loading: without it at most 50.0 % of the mean step of 4 ranks would be saved");
  CHECK(judge_gain(files, Limit::data_loading, 0.5).answer == GateAnswer::passes);
  // Each rank in turn is 80 of 100 us late: waiting for it is communication, and no gain of it.
  const JobTraces::Files turns =
      SimulatedJob{.program = [](int rank, int step) -> SimulatedJob::Program {
        return {{"kernel", "gemm", rank == step % 4 ? 95 : 15},
                {"kernel", "ncclDevKernel_AllReduce", 5, "0"}};
      }}.files();
  CHECK(judge_job(turns, {Limit::communication, 0.06}).answer == GateAnswer::fails);
  CHECK(judge_gain(turns, Limit::communication, 0.06).answer == GateAnswer::passes);
  CHECK(judge_gain(turns, Limit::communication, 0.04).answer == GateAnswer::fails);
  // A straggler has no time of the steps, but what the others wait for it would be saved.
  JobTraces late;
  late.work_us[2] = 100;
  CHECK(judge_gain(late.torch(), Limit::straggler, 0.5).why ==
        "gain:straggler: without it at most 52.2 % of rank 2's mean step would be saved");
  CHECK(judge_gain(late.torch(), Limit::straggler, 0.53).answer == GateAnswer::passes);
  const GateResult unknown = judge_gain(
      {{"rank0.json", TraceText().cat("cpu_op").x("aten::mm", 0, 10).array()}}, Limit::idle, 0.5);
  CHECK(unknown.answer == GateAnswer::unknown);
  CHECK(unknown.why == "gain:idle cannot be measured: no device activity in these traces");
}
