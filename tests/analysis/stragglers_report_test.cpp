#include "analysis/findings/straggler.h"
#include "analysis/reports/reports.h"
#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

using namespace traceloom;

namespace {

Straggler straggler_of(const JobTraces::Files& files) {
  const Run run = read_texts(files);
  const std::vector<RankRoles> roles = find_all_roles(run);
  return find_straggler(run, roles, find_waits(run, roles));
}

}  // namespace

TEST_CASE("stragglers: nobody is named when all are alike") {
  for (const JobTraces::Files& files : {JobTraces{}.torch(), JobTraces{}.composer()}) {
    const Straggler found = straggler_of(files);
    CHECK(found.cause == StragglerCause::none);
    CHECK_FALSE(found.rank);
    CHECK(found.candidates.empty());
    CHECK(found.delay_ns == 0);
  }
}

TEST_CASE("stragglers: a rank that computes longer is named, whatever the clocks say") {
  JobTraces job;
  job.work_us[2] = 100;
  for (const JobTraces::Files& files : {job.torch(), job.composer()}) {
    const Straggler found = straggler_of(files);
    CHECK(found.rank == 2);
    CHECK(found.cause == StragglerCause::compute);
    CHECK(found.delay_ns == 60'000);
    CHECK(found.waited_for_share == 1.0);
    CHECK(found.pattern == DelayPattern::persistent);
    CHECK(found.confidence == "medium");
    CHECK(found.why == "cpu takes 60.000 us a step longer than on the median of the others");
  }
}

TEST_CASE("stragglers: a rank that waits longer for its data is named with that cause") {
  JobTraces job;
  job.loader_us[1] = 70;
  for (const JobTraces::Files& files : {job.torch(), job.composer()}) {
    const Straggler found = straggler_of(files);
    CHECK(found.rank == 1);
    CHECK(found.cause == StragglerCause::dataloader);
  }
}

TEST_CASE("stragglers: delays in some steps are sporadic, those of another rank each time change") {
  // `late` says which rank is 60 us late in a step.
  const auto job = [](auto late) {
    JobTraces::Files files;
    for (int rank = 0; rank < 4; ++rank) {
      TraceText trace;
      for (int step = 0; step < 8; ++step) {
        const int own = late(step) == rank ? 80 : 20;
        const int length = late(step) < 0 ? 30 : 90;
        trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), 100 * step, length);
        trace.cat("cpu_op").x("aten::mm", 100 * step, own);
        trace.cat("user_annotation").x("gloo:all_reduce", 100 * step + own, length - own);
      }
      files.emplace_back(fmt::format("rank{}.json", rank), trace.array());
    }
    return files;
  };
  const Straggler sporadic = straggler_of(job([](int step) { return step % 4 == 1 ? 2 : -1; }));
  CHECK(sporadic.pattern == DelayPattern::sporadic);
  CHECK(sporadic.candidates == std::vector<std::int64_t>{2});
  CHECK_FALSE(sporadic.rank);
  CHECK(sporadic.delay_ns == 15'000);
  const JobTraces::Files turns = job([](int step) { return step % 4; });
  const Straggler changing = straggler_of(turns);
  CHECK(changing.pattern == DelayPattern::changing);
  CHECK(changing.cause == StragglerCause::none);
  CHECK(changing.changing_ns == 60'000);
  CHECK(changing.candidates.empty());
  CHECK(stragglers_report(read_texts(turns)).headline.at(0) ==
        "No rank stands out: whichever came last held up the others by 60.000 us a step (66.7 "
        "% of "
        "the mean step); most often ranks 0, 1, 2, 3, in 2 of 8 steps each.");
  CHECK(straggler_of(job([](int) { return -1; })).pattern == DelayPattern::none);
}

TEST_CASE("stragglers: in one step nothing changes") {
  // Both ranks 0 and 1 come last in one of two collectives.
  const auto files = [](int steps) {
    JobTraces::Files texts;
    static constexpr int kLengths[][2] = {{10, 20}, {30, 10}, {35, 20}};
    for (int rank = 0; rank < 3; ++rank) {
      TraceText trace;
      for (int step = 0; step < steps; ++step) {
        trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), 100 * step, 100);
        trace.cat("kernel").x("ncclAllReduce", 100 * step, kLengths[rank][0]);
        trace.x("ncclAllGather", 100 * step + 50, kLengths[rank][1]);
      }
      texts.emplace_back(fmt::format("rank{}.json", rank), trace.array());
    }
    return texts;
  };
  CHECK(straggler_of(files(1)).pattern == DelayPattern::none);
  CHECK(straggler_of(files(3)).pattern == DelayPattern::none);
}

TEST_CASE("stragglers: two ranks that are late alike are not told apart") {
  JobTraces job;
  job.work_us[1] = job.work_us[2] = 100;
  const Straggler found = straggler_of(job.composer());
  CHECK_FALSE(found.rank);
  CHECK(found.cause == StragglerCause::inconclusive);
  CHECK(found.candidates == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("stragglers: rank 0, which waits for a late rank where DDP sends buffers, is not late") {
  JobTraces job;
  job.work_us[0] = job.work_us[2] = 100;
  const Straggler found = straggler_of(job.composer());
  CHECK(found.rank == 2);
  CHECK(found.cause == StragglerCause::compute);
  CHECK(found.confidence == "low");
  // Recorded collectives decide.
  CHECK(straggler_of(job.torch()).candidates == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("stragglers: one that is late by little in every step is told with its size") {
  // 9.98 % of a step of 1002 us.
  JobTraces job{.steps = 20, .meeting_us = 102};
  job.loader_us = {{0, 100}, {1, 100}, {2, 100}, {3, 100}};
  job.work_us = {{0, 700}, {1, 800}, {2, 700}, {3, 700}};
  for (const JobTraces::Files& files : {job.torch(), job.composer()}) {
    const Run run = read_texts(files);
    const std::vector<RankRoles> roles = find_all_roles(run);
    const Straggler found = find_straggler(run, roles, find_waits(run, roles));
    CHECK(found.rank == 1);
    CHECK(found.is_small);
    CHECK_FALSE(found.holds_up_by_much());
    CHECK(found.pattern == DelayPattern::persistent);
    CHECK(found.delay_ns == 100'000);
    CHECK(
        stragglers_report(run).headline.at(0) ==
        "Rank 1 holds up the others by 100.000 us a step (9.98 % of the mean step), last in 100 % "
        "of 20 steps; cause: compute (cpu takes 100.000 us a step longer than on the median of "
        "the others; confidence: medium).");
  }
  // In four steps, one of four ranks is as often last by chance in 1 of 64 runs: no rank is named.
  job.steps = 4;
  CHECK_FALSE(straggler_of(job.torch()).rank);
  CHECK(straggler_of(job.torch()).candidates == std::vector<std::int64_t>{1});
  job.steps = 5;
  CHECK(straggler_of(job.torch()).rank == 1);
  // Less than 1 % is not worth telling.
  job.work_us[1] = 709;
  CHECK(straggler_of(job.torch()).candidates.empty());
}

TEST_CASE("stragglers: one step is too little, twenty are enough to be sure") {
  JobTraces job{.steps = 1};
  job.work_us[2] = 100;
  CHECK_FALSE(straggler_of(job.torch()).rank);
  CHECK(straggler_of(job.torch()).candidates == std::vector<std::int64_t>{2});
  job.steps = 20;
  CHECK(straggler_of(job.torch()).confidence == "high");
}

TEST_CASE("stragglers: most ranks being late is no straggler but one that is early") {
  JobTraces job;
  job.work_us = {{0, 100}, {1, 100}, {2, 100}};
  CHECK(straggler_of(job.torch()).cause == StragglerCause::none);
}

TEST_CASE("stragglers: rows have shares that add up to 1") {
  JobTraces job;
  job.work_us[2] = 100;
  const Report report = stragglers_report(read_texts(job.torch()));
  double sum = 0;
  for (const ReportRow& row : rows_of(report, "rows")) sum += share_in(row, "waited_for_share");
  CHECK(sum == doctest::Approx(1));
  CHECK(number_in(rows_of(report, "rows")[2], "delay_ns_per_step") == 60'000);
  CHECK(number_in(rows_of(report, "rows")[0], "wait_ns_per_step") == 60'000);
}

TEST_CASE("stragglers: of several collectives in a step each is compared by itself") {
  const auto rank = [](int number, int first, int second) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      const int at = 1000 * number + 100 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 100);
      trace.cat("kernel").x("ncclAllReduce", at, first).x("ncclAllGather", at + 50, second);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  // Rank 0 is late by 20 in the first, rank 1 by 5 in the second: together they would seem alike.
  const Report report =
      stragglers_report(read_texts({rank(0, 10, 15), rank(1, 30, 10), rank(2, 35, 15)}));
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  CHECK(number_in(rows[0], "delay_ns_per_step") == 20'000);
  CHECK(number_in(rows[1], "delay_ns_per_step") == 5'000);
  CHECK(number_in(rows[2], "delay_ns_per_step") == 0);
  CHECK(number_in(rows[0], "wait_ns_per_step") == 5'000);
  CHECK(number_in(rows[1], "wait_ns_per_step") == 20'000);
  CHECK(number_in(rows[2], "wait_ns_per_step") == 30'000);
  CHECK(share_in(rows[0], "waited_for_share") == 1);
}

TEST_CASE("stragglers: what others compute while they wait in a collective delays no step") {
  // Rank 1 computes 40 us longer, which is all that it costs, although rank 0 waits in both
  // collectives: in the first it still has work of its own. Without names that match all of a step
  // is compared together.
  const auto rank = [](int number, const char* name) {
    TraceText trace;
    const std::int64_t slower = number * 20;
    for (int step = 0; step < 3; ++step) {
      const std::int64_t at = 1'000'000 * number + 200 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 200);
      trace.cat("kernel").x("gemm", at, 40 + slower).x("gemm", at + 40 + slower, 40 + slower);
      trace.x(name, at + 40 + slower, 30 - slower).x(name, at + 80 + 2 * slower, 50 - 2 * slower);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  for (const char* name : {"ncclAllReduce", "ncclAllGather"}) {
    const Run run = read_texts({rank(0, "ncclAllReduce"), rank(1, name)});
    const std::vector<RankRoles> roles = find_all_roles(run);
    const Straggler found = find_straggler(run, roles, find_waits(run, roles));
    CHECK(found.rank == 1);
    CHECK(found.delay_ns == 40'000);
    CHECK(found.cause == StragglerCause::slower_device);
  }
}

TEST_CASE("stragglers: a hidden wait counts as far as it pushes the next collective out") {
  // The delay of rank 1 moves the end of both all-reduces from 80 to 110: 10 of the 30 us are
  // waiting that rank 0's own work does not hide.
  const auto rank = [](int number, int work, int first, int first_us, int second, int second_us) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      const int at = 200 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 200);
      trace.cat("kernel").x("gemm", at, work);
      trace.x("ncclAllReduce", at + first, first_us).x("ncclAllReduce", at + second, second_us);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  const Straggler found = straggler_of({rank(0, 40, 20, 50, 70, 40), rank(1, 80, 40, 30, 80, 30)});
  CHECK(found.rank == 1);
  CHECK(found.delay_ns == 30'000);
}

TEST_CASE("stragglers: slower work is told from more work by the steps that ranks share") {
  const auto rank = [](int number, int steps, int length) {
    TraceText trace;
    for (int step = 0; step < steps; ++step) {
      const int at = 200 * step;
      const std::string args = fmt::format(R"({{"correlation": {}}})", step + 1);
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 200);
      trace.cat("cuda_runtime").x("cudaLaunchKernel", at, 1, args);
      trace.cat("kernel")
          .x("gemm", at + 1, length, args)
          .x("ncclAllReduce", at + length + 1, 150 - length);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  CHECK(straggler_of({rank(0, 5, 40), rank(1, 3, 90)}).cause == StragglerCause::slower_device);
  CHECK(straggler_of({rank(0, 5, 40), rank(1, 3, 90)}).delay_ns == 50'000);
}

TEST_CASE("stragglers: a rank that lost a collective is not the one that waited less") {
  const auto rank = [](int number, bool lost) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      const int at = 100 * step;
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 100);
      trace.cat("kernel").x("ncclAllReduce", at, number == 1 ? 10 : 15);
      if (!lost || step != 1) trace.x("ncclAllGather", at + 50, 5 + number);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  const Report report =
      stragglers_report(read_texts({rank(0, false), rank(1, false), rank(2, true)}));
  // The third all-gather has nothing to be compared with: that of rank 2 is its second.
  CHECK(number_in(rows_of(report, "rows")[2], "wait_ns_per_step") == 6'333);
  CHECK(number_in(rows_of(report, "rows")[1], "delay_ns_per_step") == 5'000);
}

TEST_CASE(
    "stragglers: collectives that cannot be matched are compared step by step, and that is said") {
  const auto rank = [](int number, const char* name, int length) {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), 100 * step, 100);
      trace.cat("kernel").x(name, 100 * step, length);
    }
    return std::pair{fmt::format("rank{}.json", number), trace.array()};
  };
  const Report report =
      stragglers_report(read_texts({rank(0, "ncclAllReduce", 10), rank(1, "ncclBroadcast", 40)}));
  CHECK(number_in(rows_of(report, "rows")[0], "delay_ns_per_step") == 30'000);
  CHECK(number_in(rows_of(report, "rows")[1], "wait_ns_per_step") == 30'000);
  CHECK(report.notes.at(0) ==
        "most of the communication is not in collectives that can be compared one by one (the same "
        "on all ranks, in which all wait for all): compared step by step");
}

TEST_CASE("stragglers: what cannot be compared is said") {
  const Report alone = stragglers_report(read_texts(JobTraces{.ranks = 1}.torch()));
  CHECK(alone.notes.at(0) == "one rank with steps only: nobody to compare it with");
  JobTraces::Files some = JobTraces{}.torch();
  some.erase(some.begin() + 1, some.begin() + 3);
  std::reverse(some.begin(), some.end());
  CHECK(stragglers_report(read_texts(some)).notes.at(0) ==
        "no trace of ranks 1-2 of 4: the others may wait for one of these");
  const Report none = stragglers_report(read_texts({{"rank0.json", "[]"}, {"rank1.json", "[]"}}));
  CHECK(rows_of(none, "rows").empty());
}
