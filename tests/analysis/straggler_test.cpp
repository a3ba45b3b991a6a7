// Jobs of which it is known what each rank did, and what that cost.
#include "analysis/findings/straggler.h"

#include "analysis/findings/loader_waits.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/simulated_job.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

using Program = SimulatedJob::Program;
using Work = SimulatedJob::Work;
using Ranks = std::vector<std::int64_t>;

Work kernel(const std::string& name, int us) {
  return {"kernel", name, us};
}
Work all_reduce(int us, const std::string& group = "0") {
  return {"kernel", "ncclDevKernel_AllReduce", us, group};
}
Work loader(int us) {
  return {"user_annotation", "enumerate(DataLoader)#It.__next__", us};
}

struct Answer {
  explicit Answer(const SimulatedJob& job) : Answer(job.files()) {}
  explicit Answer(const SimulatedJob::Files& files) : run(read_texts(files)) {
    const std::vector<RankRoles> roles = find_all_roles(run);
    const RankWaits waits = find_waits(run, roles);
    straggler = find_straggler(run, roles, waits);
    loader = judge_loader(run, roles, waits, straggler);
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
      delays_ns.push_back(waits.mean_delay_ns(rank));
    verdict = find_verdict(Findings(run));
  }

  double share(Limit limit) const { return verdict.shares[limit].share(); }

  Run run;
  Straggler straggler;
  LoaderJob loader;
  Verdict verdict;
  Ranks delays_ns;
};

}  // namespace

TEST_CASE(
    "straggler: in a group of its own it is named, and counts, beside ranks that wait for nobody") {
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {kernel("gemm", rank == 3 ? 60 : 20), all_reduce(5, rank < 2 ? "0" : "1")};
  }});
  CHECK(found.straggler.rank == 3);
  CHECK(found.straggler.pattern == DelayPattern::persistent);
  CHECK(found.straggler.delay_ns == 40'000);
  CHECK(found.straggler.waited_for_share == 1);
  CHECK(found.verdict.kind == Limit::straggler);
  CHECK(found.verdict.rank == 3);
  CHECK(found.delays_ns == Ranks{0, 0, 0, 40'000});
}

TEST_CASE("straggler: where faster kernels would save more, it is the second remedy") {
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {kernel("gemm", rank == 3 ? 26 : 20), all_reduce(5)};
  }});
  // Of 31 us rank 3 computes 26, and 6 of these are what the others wait for.
  CHECK(found.verdict.kind == Limit::compute);
  REQUIRE(found.verdict.remedies.size() == 3);
  CHECK(found.verdict.remedies[0].gain.share() == doctest::Approx(20.0 / 31));
  CHECK(found.verdict.remedies[1].limit == Limit::straggler);
  CHECK(found.verdict.remedies[1].gain.share() == doctest::Approx(6.0 / 31));
  CHECK(found.verdict.remedies[1].text == "look at rank 3 first (cause: slower device)");
}

TEST_CASE("straggler: it is the verdict where nothing tells what it does meanwhile") {
  // An annotation is a name. Of 85 us rank 1 has 60 without a record, and 50 are its delay.
  const auto verdict = [](int late_us) {
    return Answer(SimulatedJob{.program = [late_us](int rank, int) -> Program {
             return {{"cpu_op", "aten::mm", 20},
                     {"user_annotation", "slow_region", rank == 1 ? late_us : 10},
                     {"user_annotation", "gloo:all_reduce", 5, "0"}};
           }})
        .verdict;
  };
  CHECK(verdict(60).kind == Limit::straggler);
  CHECK(verdict(60).rank == 1);
  CHECK(verdict(60).not_recorded.share() == doctest::Approx(60.0 / 85));
  // A delay of 5 us is less than what aten::mm takes.
  CHECK(verdict(15).kind != Limit::straggler);
}

TEST_CASE("straggler: two that are late one after the other are both waited for") {
  const SimulatedJob job{.program = [](int rank, int) -> Program {
    return {kernel("gemm", rank == 1 ? 34 : 4), all_reduce(1), kernel("gemm", rank == 2 ? 24 : 4),
            all_reduce(1)};
  }};
  const Answer found(job);
  CHECK_FALSE(found.straggler.rank);
  CHECK(found.straggler.candidates == Ranks{1, 2});
  CHECK(found.straggler.each_of_them);
  CHECK(found.delays_ns == Ranks{0, 30'000, 20'000, 0});
  CHECK(found.verdict.kind == Limit::straggler);
  CHECK(found.verdict.next ==
        "look at ranks 1 and 2 first (cause: inconclusive); see trace-stats stragglers");
  // 2 of 60 us, without what ranks wait for each other.
  CHECK(found.share(Limit::communication) - found.verdict.waiting.share() ==
        doctest::Approx(2.0 / 60));
  CHECK(
      stragglers_report(found.run).headline.at(0) ==
      "Ranks 1 and 2 hold up the others by up to 30.000 us a step (50.0 % of the mean step), last "
      "in 100 % of 10 steps; cause: inconclusive (each in collectives of its own; confidence: "
      "low).");
}

TEST_CASE("straggler: a rank that is late since it waited for another is not to blame") {
  // Groups of tensors {0, 1} and {2, 3}, and of data {0, 2} and {1, 3}.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {kernel("gemm", rank == 0 ? 30 : 20), all_reduce(2, rank < 2 ? "t0" : "t1"),
            kernel("gemm", 5), all_reduce(4, rank % 2 == 0 ? "d0" : "d1")};
  }});
  CHECK(found.straggler.rank == 0);
  CHECK(found.delays_ns == Ranks{10'000, 0, 0, 0});
}

TEST_CASE("straggler: what others do without a rank pushes nothing out that they do with it") {
  // Work hides the wait for rank 2; apart from it, the others have a collective of their own.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    if (rank == 2) return {kernel("gemm", 20), all_reduce(2), kernel("gemm", 18)};
    return {kernel("gemm", 10),
            {"kernel", "gemm", 20, "", true},
            all_reduce(2),
            kernel("gemm", 8),
            all_reduce(10, "1")};
  }});
  CHECK(found.straggler.pattern == DelayPattern::none);
  CHECK(found.delays_ns == Ranks{0, 0, 0, 0});
}

TEST_CASE("straggler: a broadcast tells nobody who came last, nor who waited for it") {
  // Rank 0 sends and goes on; rank 3 is there long before.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {{"kernel", "ncclDevKernel_Broadcast", rank == 0 ? 1 : 4},
            kernel("gemm", rank == 2 ? 30 : 20),
            all_reduce(10)};
  }});
  CHECK(found.straggler.rank == 2);
  CHECK(found.delays_ns == Ranks{0, 0, 7'000 + 3'000, 0});
}

TEST_CASE("straggler: a stage that waits for the one in front of it is not the late one") {
  // Ranks 1 and 3 come last to their groups, rank 1 since rank 3 is late with what it waits for.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    const int us = rank == 3 ? 30 : 10;
    if (rank == 1)
      return {{"kernel", "ncclDevKernel_SendRecv", 20}, kernel("gemm", 10), all_reduce(60, "a")};
    return {kernel("gemm", us), all_reduce(60, rank == 0 ? "a" : "b")};
  }});
  CHECK(found.straggler.rank == 3);
}

TEST_CASE("straggler: a rank without its collectives is not compared, and that is said") {
  const SimulatedJob job{.program = [](int rank, int) -> Program {
    if (rank == 1) return {kernel("gemm", 25)};
    return {kernel("gemm", rank == 3 ? 30 : 20), all_reduce(5)};
  }};
  const Answer found(job);
  CHECK(found.straggler.rank == 3);
  CHECK(stragglers_report(found.run).notes.at(0) ==
        "rank 1: no communication was recorded: not compared with the others");
  const Answer alike(SimulatedJob{.program = [](int rank, int) -> Program {
    if (rank == 1) return {kernel("gemm", 25)};
    return {kernel("gemm", 20), all_reduce(5)};
  }});
  CHECK(alike.straggler.cause == StragglerCause::none);
}

TEST_CASE("straggler: a rank without marked steps does not keep the others from being compared") {
  SimulatedJob::Files files =
      SimulatedJob{.program = [](int rank, int) -> Program {
        return {loader(5), kernel("gemm", rank == 1 ? 30 : 20), all_reduce(5)};
      }}.files();
  files[3].second = TraceText().cat("kernel").x("ncclDevKernel_AllReduce", 0, 5).array();
  const Answer found(files);
  CHECK(found.straggler.rank == 1);
  CHECK(found.loader.late_share == doctest::Approx(5.0 / 40));
  CHECK(stragglers_report(found.run).notes.at(0) ==
        "rank 3: no steps are marked: not compared with the others");
}

TEST_CASE("straggler: ranks without a step in common still say what their loaders take") {
  SimulatedJob::Files files;
  for (int rank = 0; rank < 2; ++rank) {
    TraceText trace;
    for (int step = 0; step < 4; ++step) {
      const int at = 100 * step;
      trace.cat("user_annotation")
          .x(fmt::format("ProfilerStep#{}", 10 * rank + step), at, 100)
          .x("enumerate(DataLoader)#It.__next__", at, 50 + 10 * rank);
      trace.cat("kernel").x("ncclDevKernel_AllReduce", at + 80, 20);
    }
    files.emplace_back(fmt::format("rank{}.json", rank), trace.array());
  }
  const Answer found(files);
  CHECK(found.straggler.cause == StragglerCause::inconclusive);
  CHECK(found.loader.late_share == doctest::Approx(0.55));
  CHECK(found.verdict.kind == Limit::data_loading);
}

TEST_CASE(
    "straggler: two in groups that never meet are both named, and who waits for nobody is not") {
  const Answer found(SimulatedJob{.ranks = 6, .program = [](int rank, int) -> Program {
                                    return {kernel("gemm", rank == 1 || rank == 3 ? 30 : 20),
                                            all_reduce(5, std::to_string(rank / 2))};
                                  }});
  CHECK(found.straggler.candidates == Ranks{1, 3});
  CHECK(found.straggler.each_of_them);
  CHECK(found.delays_ns == Ranks{0, 10'000, 0, 10'000, 0, 0});
}

TEST_CASE(
    "straggler: a rank whose delay others have by another one as well is not the one that holds "
    "them up") {
  // Rank 2 is late for its group of tensors, but rank 0 and by it rank 1 are later for theirs.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    const int us = rank == 0 ? 30 : rank == 2 ? 27 : 20;
    return {kernel("gemm", us), all_reduce(2, rank < 2 ? "t0" : "t1"), kernel("gemm", 5),
            all_reduce(4, rank % 2 == 0 ? "d0" : "d1")};
  }});
  CHECK(found.delays_ns == Ranks{3'000, 0, 0, 0});
  CHECK(found.straggler.candidates == Ranks{0});
  CHECK(found.straggler.is_small);
}

TEST_CASE("straggler: a root that is late to a broadcast is waited for") {
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {loader(rank == 0 ? 11 : 1),
            {"kernel", "ncclDevKernel_Broadcast", 1, "0"},
            kernel("gemm", 20),
            all_reduce(12)};
  }});
  CHECK(found.straggler.rank == 0);
  CHECK(found.straggler.cause == StragglerCause::dataloader);
  CHECK(found.straggler.delay_ns == 10'000);
}

TEST_CASE("straggler: a hidden wait pushes out what ranks do in other groups, too") {
  // The nodes are {0, 1} and {2, 3}. The ranks meet in the node after work, then across nodes,
  // where 8 of the 12 us by which rank 2 is late are exposed on rank 0.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {kernel("gemm", rank == 2 ? 22 : 10),
            {"kernel", "gemm", 12, "", true},
            all_reduce(2, rank < 2 ? "n0" : "n1"),
            all_reduce(6, rank % 2 == 0 ? "a0" : "a1")};
  }});
  CHECK(found.straggler.rank == 2);
  CHECK(found.straggler.delay_ns == 8'000);
}

TEST_CASE("straggler: one in its group that is late now and then is named as well") {
  const Answer found(SimulatedJob{.program = [](int rank, int step) -> Program {
    return {kernel("gemm", rank == 3 && step % 5 == 1 ? 80 : 20),
            all_reduce(5, rank < 2 ? "0" : "1")};
  }});
  CHECK(found.straggler.rank == 3);
  CHECK(found.straggler.pattern == DelayPattern::sporadic);
  CHECK(found.straggler.delay_ns == 12'000);
}

TEST_CASE(
    "straggler: one that is late now and then is named with its cause, unless others are as well") {
  const auto late_in = [](int every) {
    return [every](int rank, int step) -> Program {
      const bool is_late = step % every == 1 && rank == (every == 5 ? 2 : step / every % 4);
      return {loader(is_late ? 101 : 1), kernel("gemm", 20), all_reduce(5)};
    };
  };
  const Answer found(SimulatedJob{.program = late_in(5)});
  CHECK(found.straggler.pattern == DelayPattern::sporadic);
  CHECK(found.straggler.rank == 2);
  CHECK(found.straggler.cause == StragglerCause::dataloader);
  CHECK(found.straggler.confidence == "low");
  CHECK(found.straggler.waited_for_share == 0.2);
  CHECK(found.straggler.delay_ns == 20'000);
  CHECK(found.verdict.rank == 2);
  // Nine steps are too few to be sure, and being the last of three late ranks is no proof.
  CHECK_FALSE(Answer(SimulatedJob{.steps = 9, .program = late_in(5)}).straggler.rank);
  CHECK_FALSE(Answer(SimulatedJob{.steps = 12, .program = late_in(3)}).straggler.rank);
}

TEST_CASE("straggler: two at a time that take turns are waited for as well") {
  const Answer found(
      SimulatedJob{.steps = 8, .program = [](int rank, int step) -> Program {
                     return {kernel("gemm", rank / 2 == step % 2 ? 30 : 20), all_reduce(2)};
                   }});
  CHECK(found.straggler.pattern == DelayPattern::changing);
  CHECK(found.straggler.changing_ns == 10'000);
  CHECK(found.verdict.delays[Limit::straggler].share() == doctest::Approx(10.0 / 32));
  CHECK(found.verdict.kind == Limit::compute);
}

TEST_CASE("straggler: the loader of one rank takes what it takes, not what others wait for it") {
  // Most of the wait of 30 us is for rank 2's loader, and a part of it for its work.
  const Answer found(SimulatedJob{.program = [](int rank, int) -> Program {
    return {loader(rank == 2 ? 27 : 1), kernel("gemm", rank == 2 ? 24 : 20), all_reduce(5)};
  }});
  CHECK(found.straggler.cause == StragglerCause::dataloader);
  CHECK(found.verdict.kind == Limit::data_loading);
  CHECK(found.share(Limit::data_loading) == doctest::Approx(27.0 / 56));
  CHECK_FALSE(found.verdict.is_delay(Limit::data_loading));
}

TEST_CASE("straggler: the device is slower if the same kernels take longer, and not one other") {
  const auto cause = [](const std::string& name, int us, int more_us) {
    return Answer(SimulatedJob{.program = [&](int rank, int) -> Program {
             const bool is_slow = rank == 1;
             return {kernel("gemm", is_slow ? us : 10), kernel("relu", is_slow ? us : 10),
                     kernel(is_slow ? name : "softmax", is_slow ? more_us : 10), all_reduce(5)};
           }})
        .straggler.cause;
  };
  CHECK(cause("softmax", 14, 14) == StragglerCause::slower_device);
  CHECK(cause("softmax", 10, 30) == StragglerCause::compute);
  CHECK(cause("argsort", 10, 30) == StragglerCause::compute);
  CHECK(to_string(StragglerCause::slower_device) == "slower device");
}

TEST_CASE("straggler: nobody is last where nobody is waited for") {
  const Answer found(SimulatedJob{.program = [](int, int) -> Program {
    return {kernel("gemm", 20), all_reduce(5)};
  }});
  for (const ReportRow& row : rows_of(stragglers_report(found.run), "rows"))
    CHECK(share_in(row, "waited_for_share") == 0);
}

TEST_CASE("comm: clocks by which ranks leave before others come are not used") {
  SimulatedJob job{.steps = 4, .program = [](int rank, int) -> Program {
                     return {kernel("gemm", rank == 2 ? 30 : 20), all_reduce(5)};
                   }};
  const Report agreeing = comm_report(read_texts(job.files()), {});
  CHECK(number_in(rows_of(agreeing, "ranks")[0], "total_wait_ns") == 40'000);
  CHECK(agreeing.notes.empty());
  job.clocks_us = {0, 500'000, 1'000'000, 0};
  CHECK(comm_report(read_texts(job.files()), {}).notes.at(0) ==
        "the clocks of the ranks are made of these collectives: no skews, and waits by durations "
        "alone");
  // Base times show the same clock, which was set in the middle and fits no offset.
  job.later_clocks_us = {0, 1'500'000, 3'000'000, 0};
  const Report report =
      comm_report(read_texts(job.files(R"("baseTimeNanoseconds": 1795202969000000000)")), {});
  CHECK(number_in(rows_of(report, "ranks")[0], "total_wait_ns") == 40'000);
  CHECK(number_in(rows_of(report, "ranks")[2], "times_last") == 4);
  CHECK(report.notes.at(0) ==
        "the clocks of the ranks do not agree (by them, in 4 of 4 collectives a rank had left "
        "before another came): no skews, and waits by durations alone");
}

TEST_CASE("comm: a collective that a rank lost shifts no others than those of its step") {
  // Every rank in turn comes last, and rank 1's part of the second all-reduce is lost.
  const auto job = [](bool is_lost) {
    return SimulatedJob{
        .ranks = 2, .steps = 4, .program = [is_lost](int rank, int step) -> Program {
          const bool is_late = rank == step % 2;
          if (is_lost && step == 1)
            return rank == 0 ? Program{all_reduce(5)} : Program{kernel("gemm", 5)};
          return {kernel("gemm", is_late ? 30 : 20), all_reduce(5)};
        }};
  };
  const auto waits = [](const SimulatedJob& of) {
    const Report report = comm_report(read_texts(of.files()), {});
    return std::pair{number_in(rows_of(report, "ranks")[0], "total_wait_ns"),
                     number_in(rows_of(report, "ranks")[1], "total_wait_ns")};
  };
  CHECK(waits(job(false)) == std::pair<std::int64_t, std::int64_t>{20'000, 20'000});
  CHECK(waits(job(true)) == std::pair<std::int64_t, std::int64_t>{10'000, 20'000});
}
