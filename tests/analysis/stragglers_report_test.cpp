#include "analysis/stragglers_report.h"

#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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

TEST_CASE("stragglers: two ranks that are late alike are not told apart") {
  JobTraces job;
  job.work_us[0] = job.work_us[2] = 100;
  const Straggler found = straggler_of(job.composer());
  CHECK_FALSE(found.rank);
  CHECK(found.cause == StragglerCause::inconclusive);
  CHECK(found.candidates == std::vector<std::int64_t>{0, 2});
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
        "most of the communication cannot be matched between ranks: compared step by step");
}

TEST_CASE("stragglers: what cannot be compared is said") {
  const Report alone = stragglers_report(read_texts(JobTraces{.ranks = 1}.torch()));
  CHECK(alone.notes.at(0) == "one rank with steps only: nobody to compare it with");
  const Report none = stragglers_report(read_texts({{"rank0.json", "[]"}, {"rank1.json", "[]"}}));
  CHECK(rows_of(none, "rows").empty());
}
