// The replay of jobs whose ranks do different work: who waits for which message, and what a stage
// would be like.
#include "analysis/findings/straggler.h"
#include "analysis/replay/what_if.h"
#include "analysis/waits/step_roles.h"
#include "support/run_texts.h"
#include "support/simulated_job.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

using namespace traceloom;

namespace {

// The traces of a rank whose work is launched at the begin of the step, a us each.
class Rank {
 public:
  explicit Rank(int step_us) { trace_.cat("user_annotation").x("ProfilerStep#1", 0, step_us); }
  void work(const char* name, int at, int us) { add(name, at, us, 7, ""); }
  void message(bool sends, int at, int us) {
    add("ncclDevKernel_SendRecv", at, us, sends ? 40 : 41,
        fmt::format(R"(, "Collective name": "{}", "{} Rank": {}, "In msg nelems": 500,)"
                    R"( "dtype": "Float", "Group size": 2, "Process Group Name": "p",)"
                    R"( "Process Group Ranks": "[0, 1]")",
                    sends ? "send" : "recv", sends ? "Dst" : "Src", sends ? 1 : 0));
  }
  std::string text(int rank) const {
    return trace_.object(fmt::format(
        R"("distributedInfo": {{"rank": {}, "world_size": 2, "pg_config": [{{"pg_name": "p",)"
        R"( "pg_desc": "PIPELINE_MODEL_PARALLEL_GROUP", "ranks": [0, 1]}}]}})",
        rank));
  }

 private:
  void add(const char* name, int at, int us, int stream, const std::string& args) {
    ++link_;
    trace_.cat("cuda_runtime")
        .tid("1")
        .x("cudaLaunchKernel", link_, 1, fmt::format(R"({{"correlation": {}}})", link_));
    trace_.cat("kernel")
        .tid(std::to_string(stream))
        .x(name, at, us,
           fmt::format(R"({{"stream": {}, "device": 0, "correlation": {}{}}})", stream, link_,
                       args));
  }

  TraceText trace_;
  int link_ = 0;
};

// Stage 0 computes for so long and sends, six times. Stage 1 posts each receive before the work
// that comes first, and works when the receive before that has ended.
struct PostedAhead {
  std::vector<int> computing{40, 40, 10, 10, 40, 40};
  int late_us = 30;
  int steps_us = 0;  // of both ranks

  Run run() {
    std::vector<int> sent;
    int at = 50;
    for (const int us : computing) sent.push_back((at += us + 2) - 2);
    std::vector<int> began;
    int end = 0;
    for (const int us : sent) {
      began.push_back(std::max(end, us + 2));
      end = began.back() + late_us;
    }
    steps_us = sent.back() + 2 + end;
    Rank first(sent.back() + 2);
    Rank second(end);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      first.work("early", sent[i] - computing[i], computing[i]);
      first.message(true, sent[i], 2);
    }
    const auto receive = [&](std::size_t i) {
      const int from = i == 0 ? 40 : sent[i - 1] + 2;
      second.message(false, from, sent[i] + 2 - from);
    };
    receive(0);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (i + 1 < sent.size()) receive(i + 1);
      second.work("late", began[i], late_us);
    }
    return read_texts({{"rank0.json", first.text(0)}, {"rank1.json", second.text(1)}});
  }
};

}  // namespace

TEST_CASE("what-if: work does not wait for a receive that was posted for later work") {
  PostedAhead recorded;
  const WhatIf found = find_what_if(recorded.run(), {.set = {Repair::parse("kernel late = -50%")}});
  REQUIRE_MESSAGE(found.refusal.empty(), found.refusal);
  PostedAhead faster{.late_us = 15};
  faster.run();
  CHECK(found.step_ns == recorded.steps_us * 1000 / 2);
  CHECK(found.replayed_ns == found.step_ns);
  CHECK(found.asked.at(0).step_ns == faster.steps_us * 1000 / 2);
}

TEST_CASE("what-if: a stage with more layers keeps its part of them") {
  const SimulatedJob job{
      .ranks = 4,
      .steps = 4,
      .program =
          [](int rank, int) {
            SimulatedJob::Program program(rank < 2 ? 1 : 3, {"kernel", "gemm", 30});
            program.push_back({"kernel", "ncclAllReduce", 5, "0"});
            return program;
          },
      .launches = true};
  const Run run = read_texts(job.files(), {.mesh_sizes = {.tensor = 1, .data = 2, .stages = 2}});
  const std::vector<Gain> odd = find_job_gains(run).odd();
  REQUIRE(odd.size() == 1);
  CHECK(odd.front().set() == "stage 1 = median");
  CHECK(odd.front().gain_ns == 30'000);  // two of four layers: 65 us instead of 95
  CHECK(find_job_gains(run).words(odd.front()) ==
        "stage 1 like the other stages would gain 30.000 us of 95.000 us a step (31.6 %; 30.000 us "
        "to 30.000 us)");
}

TEST_CASE("straggler: three slow ranks are named together") {
  const SimulatedJob job{.ranks = 8,
                         .steps = 4,
                         .program = [](int rank, int) -> SimulatedJob::Program {
                           return {{"kernel", "gemm", rank % 2 == 0 && rank < 6 ? 50 : 30},
                                   {"kernel", "ncclAllReduce", 5, "0"}};
                         },
                         .launches = true};
  const Run run = read_texts(job.files(), {.mesh_sizes = {.tensor = 8}});
  const std::vector<RankRoles> roles = find_main_roles(run);
  const Straggler found = find_straggler(run, roles, find_waits(run, roles));
  CHECK(found.candidates == std::vector<std::int64_t>{0, 2, 4});
  CHECK(straggler_headline(found) ==
        "Ranks 0, 2 and 4 hold up the job: ranks 0, 2 and 4 like the others of their stages would "
        "gain 20.000 us of 55.000 us a step (36.4 %; 10.000 us to 20.000 us); cause: inconclusive "
        "(each "
        "is slower than those like it; confidence: low).");
}

TEST_CASE("straggler: a rank without a place in the mesh is compared with the first stage") {
  const SimulatedJob job{
      .ranks = 4,
      .steps = 4,
      .program = [](int rank, int) -> SimulatedJob::Program {
        return {{"kernel", "gemm", rank == 2 ? 50 : 30}, {"kernel", "ncclAllReduce", 5, "0"}};
      },
      .launches = true};
  SimulatedJob::Files files;
  for (std::size_t rank = 0; rank < 4; ++rank)
    files.push_back(job.files(fmt::format(
        R"("distributedInfo": {{"rank": {}, "world_size": 4, "pg_config": [{}]}})", rank,
        rank < 2 ? R"({"pg_name": "t", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": [0, 1]})"
                 : ""))[rank]);
  const Run run = read_texts(files);
  const std::vector<RankRoles> roles = find_main_roles(run);
  CHECK(find_straggler(run, roles, find_waits(run, roles)).candidates ==
        std::vector<std::int64_t>{2});
}
