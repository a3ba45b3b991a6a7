// The replay of a job: what a repair would gain is what the same job takes when it is simulated
// with that repair.
#include "analysis/job/job_reports.h"
#include "analysis/replay/what_if.h"
#include "analysis/verdict/verdict.h"
#include "support/long_times.h"
#include "support/run_texts.h"
#include "support/simulated_job.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <random>

using namespace traceloom;

namespace {

using Program = SimulatedJob::Program;

WhatIf what_if(const SimulatedJob& job, const std::vector<std::string>& changes = {}) {
  WhatIfRequest request;
  for (const std::string& change : changes) request.set.push_back(Repair::parse(change));
  const Run run = read_texts(job.files());
  return find_what_if(run, request);
}

// The mean step with a change.
std::int64_t step_with(const SimulatedJob& job, const std::string& change) {
  const WhatIf found = what_if(job, {change});
  REQUIRE_MESSAGE(found.refusal.empty(), found.refusal);
  CHECK(found.replayed_ns == found.step_ns);
  return found.asked.at(0).step_ns;
}

// The mean step as it was recorded.
std::int64_t recorded_step(const SimulatedJob& job) {
  const Run run = read_texts(job.files());
  std::int64_t sum_ns = 0;
  std::int64_t count = 0;
  for (const RankEvents& rank : run.ranks)
    for (const Step& step : rank.steps.list) {
      sum_ns += length_ns(step.time);
      ++count;
    }
  return sum_ns / count;
}

SimulatedJob slow_rank_job() {
  return {.ranks = 3, .steps = 4, .program = [](int rank, int) -> Program {
            return {{"kernel", "gemm", rank == 1 ? 50 : 30},
                    {"kernel", "ncclAllReduce", 5, "0"},
                    {"kernel", "adam", 10}};
          }};
}

std::string refusal(const std::string& change) {
  try {
    Repair::parse(change);
  } catch (const UsageError& error) {
    return std::string(error.what()).substr(0, std::string(error.what()).find("; for example"));
  }
  return "";
}

}  // namespace

TEST_CASE("what-if: a rank like the others gains what the others waited for it") {
  const WhatIf found = what_if(slow_rank_job());
  CHECK(found.steps == 4);
  CHECK(found.step_ns == 65'000);
  CHECK(found.replayed_ns == 65'000);
  REQUIRE(!found.singles.empty());
  const Gain& most = found.singles.front();
  CHECK(most.repairs.front().text() == "rank 1 = median");
  CHECK(most.gain_ns == 20'000);
  CHECK(most.least_ns == 20'000);
  CHECK(most.most_ns == 20'000);
  CHECK(most.step_ns == 45'000);
  using enum PathClass;
  CHECK(found.path_ns[compute] == 4 * 60'000);
  CHECK(found.path_ns[collective] == 4 * 5'000);
}

TEST_CASE("what-if: changes are made together, and one after the other") {
  const SimulatedJob job = slow_rank_job();
  CHECK(step_with(job, "rank 1 = median") == 45'000);
  CHECK(step_with(job, "rank 0 = median") == 65'000);  // 40 us instead of 30 hold up nobody
  CHECK(step_with(job, "collectives = 0") == 60'000);
  CHECK(step_with(job, "kernel ^gemm$ = -50%") == 40'000);
  CHECK(step_with(job, "kernel a = -100%") == 55'000);
  const WhatIf both = what_if(job, {"rank 1 = median", "collectives = 0"});
  CHECK(both.asked.at(0).step_ns == 40'000);
  CHECK(both.asked.at(0).gain_ns == 25'000);
}

TEST_CASE("what-if: two slow ranks gain together what none gains alone") {
  const SimulatedJob job{
      .ranks = 4, .steps = 3, .program = [](int rank, int) -> Program {
        return {{"kernel", "gemm", rank < 2 ? 50 : 30}, {"kernel", "ncclAllReduce", 5, "0"}};
      }};
  const WhatIf found = what_if(job);
  REQUIRE(!found.pairs.empty());
  CHECK(found.pairs.front().gain_ns == 20'000);
  for (const Gain& single : found.singles)
    if (single.repairs.front().kind == Repair::Kind::rank) CHECK(single.gain_ns == 0);
}

TEST_CASE("what-if: random jobs are what a simulation of the changed job says") {
  const auto seeds = static_cast<int>(tries(40));
  for (int seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto draw = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    constexpr std::array<std::string_view, 3> kGroups{"01", "12", "012"};
    struct Piece {
      std::string group;
      std::array<int, 3> us;
    };
    std::vector<Piece> pieces{{"", {2, 4, 2}}};
    for (int i = draw(2, 12); i > 0; --i) {
      const std::string group =
          draw(0, 1) == 0 ? "" : std::string(kGroups[static_cast<std::size_t>(draw(0, 2))]);
      const int us = 2 * draw(1, 20);
      pieces.push_back(
          {group,
           {us, group.empty() ? 2 * draw(1, 20) : us, group.empty() ? 2 * draw(1, 20) : us}});
    }
    pieces.push_back({"012", {4, 4, 4}});
    const auto job = [&](int kernel_percent, bool collectives) {
      return SimulatedJob{
          .ranks = 3, .steps = 3, .program = [=](int rank, int step) {
            Program program;
            for (const Piece& piece : pieces) {
              const int us = piece.us[static_cast<std::size_t>(rank)];
              if (piece.group.empty())
                program.push_back({"kernel", "gemm", us * (step + 1) * kernel_percent / 100});
              else if (piece.group.find(static_cast<char>('0' + rank)) != std::string::npos)
                program.push_back({"kernel", "ncclAllReduce", collectives ? us : 0, piece.group});
            }
            return program;
          }};
    };
    const SimulatedJob as_it_is = job(100, true);
    CHECK(step_with(as_it_is, "kernel gemm = -50%") == recorded_step(job(50, true)));
    CHECK(step_with(as_it_is, "collectives = 0") == recorded_step(job(100, false)));
  }
}

TEST_CASE("what-if: says what it lacks") {
  SimulatedJob job{.ranks = 2, .program = [](int rank, int) -> Program {
                     return {{"kernel", "gemm", 30},
                             {"kernel", rank == 0 ? "ncclSend" : "ncclDevKernel_SendRecv", 5}};
                   }};
  CHECK(what_if(job).refusal ==
        "the partners of 100.0 % of the time in communication are not known (most of it in "
        "'ncclDevKernel_SendRecv'), so that waiting would be taken for work");
  job.program = [](int, int) -> Program { return {{"cpu_op", "aten::mm", 30}}; };
  CHECK(what_if(job).refusal == "these traces hold no work of devices, which is what is replayed");
  TraceText streams;
  for (int i = 0; i < 70'000; ++i)
    streams.cat("kernel").x("gemm", i, 1, fmt::format(R"({{"device": 0, "stream": {}}})", i));
  CHECK(find_what_if(read_texts({{"rank0.json", streams.array()}}), {}).refusal ==
        "a rank has work on more than 1000 streams");
  CHECK(find_what_if(read_texts({{"rank0.json", long_trace()}}), {}).refusal ==
        "the work of all ranks takes more than 73 years, so that its times do not add up");
}

TEST_CASE("what-if: nothing is known of communication that there is none of") {
  const SimulatedJob job{.ranks = 1, .steps = 3, .program = [](int, int) -> Program {
                           return {{"kernel", "gemm", 30}};
                         }};
  CHECK_FALSE(what_if(job).coverage.has_value());
  const Report report = replay_report(read_texts(job.files()), {});
  CHECK(report.notes.at(0).ends_with("; nobody communicates in it"));
  CHECK(report.values.at(0).second.find(R"("coverage":null)") != std::string::npos);
}

TEST_CASE("what-if: partners that are missing in a step that is left out take no answer away") {
  // In the first step, which a second rank lacks, a collective has one part.
  TraceText first;
  TraceText second;
  const auto add = [](TraceText& trace, int step, int begin) {
    trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), begin, 100);
    trace.cat("kernel").x("gemm", begin, 50, R"({"stream": 7})");
    trace.x("ncclDevKernel_AllReduce", begin + 50, 40,
            R"({"stream": 7, "Collective name": "allreduce", "Group size": 2,)"
            R"( "Process Group Name": "0", "Process Group Ranks": "[0, 1]"})");
  };
  add(first, 1, 0);
  for (TraceText* const trace : {&first, &second})
    for (const int step : {2, 3}) add(*trace, step, 100 * (step - 1));
  constexpr const char* kOneMachine = R"("baseTimeNanoseconds": 0, "host_name": "n0")";
  const WhatIf found = find_what_if(read_texts({{"rank0.json", first.object(kOneMachine)},
                                                {"rank1.json", second.object(kOneMachine)}}),
                                    {});
  CHECK(found.refusal == "");
  CHECK(found.coverage == 1);
  CHECK(found.steps == 2);
}

TEST_CASE("what-if: without a mesh, the size of the world tells which ranks are missing") {
  const SimulatedJob job = slow_rank_job();
  const Run run = read_texts(job.files(R"("distributedInfo": {"world_size": 5})"));
  CHECK(find_what_if(run, {}).refusal ==
        "ranks 3-4 of the job are not in these traces, so what the others wait for is not known: "
        "record all ranks");
  // The late rank may be one of them, unless one that is here is late.
  const LimitGate gate{Limit::straggler, 0.05, true};
  CHECK(judge(gate, find_verdict(Findings(run))).answer == GateAnswer::fails);
  SimulatedJob alike = job;
  alike.program = [](int, int) -> Program {
    return {{"kernel", "gemm", 30}, {"kernel", "ncclAllReduce", 5, "0"}};
  };
  const Run others = read_texts(alike.files(R"("distributedInfo": {"world_size": 5})"));
  const GateResult unknown = judge(gate, find_verdict(Findings(others)));
  CHECK(unknown.answer == GateAnswer::unknown);
  CHECK(unknown.why ==
        "gain:straggler cannot be measured: ranks of the job are not in these traces");
}

// Batches of different lengths: rank 0 is behind in every step, by a 30th of its differences.
TEST_CASE("what-if: a rank that is as often faster as slower holds up nobody") {
  const auto job = [](int shorter) {
    return SimulatedJob{.ranks = 2, .steps = 5, .program = [=](int rank, int) -> Program {
                          Program program;
                          for (int i = 0; i < 4; ++i)
                            program.push_back({"kernel", "gemm", i % 2 == rank ? 50 : shorter});
                          if (rank == 0) program.push_back({"kernel", "gemm", 5});
                          program.push_back({"kernel", "ncclAllReduce", 5, "0"});
                          return program;
                        }};
  };
  const WhatIf lengths = what_if(job(10));
  REQUIRE(!lengths.singles.empty());
  CHECK(lengths.odd().empty());
}

TEST_CASE("what-if: refuses a change of what is not there") {
  CHECK_THROWS_WITH_AS(what_if(slow_rank_job(), {"collectives = 0", "rank 7 = median"}),
                       "--set 'rank 7 = median': nothing in these traces would change: it is not "
                       "there, or nothing is like it",
                       UsageError);
}

TEST_CASE("--set: reads what it writes") {
  for (const std::string text :
       {"rank 5 = median", "stage 3 = median", "link 2-4 = median", "group 6,7 = median",
        "kernel flash.* = -20%", "kernel flash.* = -12.5%", "loader = 0", "communication = 0",
        "collectives = 0", "messages = 0", "launch = 0", "tp = 0", "dp = 0"})
    CHECK(Repair::parse(text).text() == text);
  CHECK(Repair::parse(" link 4-2=median ").text() == "link 2-4 = median");
  CHECK(Repair::parse("group 6-8 = median").text() == "group 6,7,8 = median");
  CHECK(Repair::parse("kernel gemm = 0").change == -1);
}

TEST_CASE("--set: refuses what a job does not have") {
  CHECK(refusal("rank 5") == "--set 'rank 5': no '='");
  CHECK(refusal("rank 5 = 0") ==
        "--set 'rank 5 = 0': it can be as the median of those like it alone");
  CHECK(refusal("rank x = median") == "--set 'rank x = median': no ranks");
  CHECK(refusal("rank 1,2 = median") == "--set 'rank 1,2 = median': one number");
  CHECK(refusal("group 0-99999999999 = median") ==
        "--set 'group 0-99999999999 = median': no job has so many ranks");
  CHECK(refusal("link 2 = median") == "--set 'link 2 = median': a link has two ranks");
  CHECK(refusal("kernel gemm = -120%") ==
        "--set 'kernel gemm = -120%': a kernel's time becomes less by -0% to -100%");
  CHECK(refusal("loader = 5") == "--set 'loader = 5': it can be 0 alone");
  CHECK(refusal("weather = 0") == "--set 'weather = 0': 'weather' is nothing that a job has");
}
