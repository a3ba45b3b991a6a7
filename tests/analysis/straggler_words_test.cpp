// The text that `stragglers` prints above its table, compared with the table.
#include "analysis/findings/straggler.h"
#include "analysis/reports/reports.h"
#include "support/job_traces.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>

using namespace traceloom;

namespace {

// Every rank computes for `work_us` of the step and meets the others; a step takes 1109 us.
JobTraces::Files files_of(int steps, const std::function<int(int rank, int step)>& work_us) {
  JobTraces::Files files;
  for (int rank = 0; rank < 4; ++rank) {
    TraceText trace;
    for (int step = 0; step < steps; ++step) {
      const int at = 1200 * step;
      const int own_us = work_us(rank, step);
      trace.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 1109);
      trace.cat("cpu_op").x("aten::mm", at, own_us);
      trace.cat("user_annotation").x("gloo:all_reduce", at + own_us, 1100 - own_us);
    }
    files.emplace_back(fmt::format("rank{}.json", rank), trace.array());
  }
  return files;
}

std::string headline_of(const JobTraces::Files& files) {
  return stragglers_report(read_texts(files)).headline.at(0);
}
}  // namespace

TEST_CASE("stragglers: what was measured is told with its size, also where nobody is named") {
  const auto late = [](int rank) { return rank == 2 ? 610 : 500; };
  const auto always = [&](int rank, int) { return late(rank); };
  for (const int steps : {2, 3})
    CHECK(headline_of(files_of(steps, always)) ==
          fmt::format("Rank 2 came last in {0} of {0} steps and held up the others by 110.000 us a "
                      "step (9.92 % of the mean step); too few steps to call it steady.",
                      steps));
  CHECK(headline_of(
            files_of(20, [&](int rank, int step) { return step % 10 < 7 ? late(rank) : 500; })) ==
        "Rank 2 came last in 14 of 20 steps and held up the others by 77.000 us a step (6.94 % of "
        "the mean step); not in enough steps to call it steady.");
  CHECK(headline_of(files_of(
            20, [&](int rank, int step) { return step % 10 < 7 ? late(rank) : late(rank + 1); })) ==
        "Rank 2 came last in 14 of 20 steps and held up the others by 77.000 us a step (6.94 % of "
        "the mean step; whichever came last: 110.000 us, 9.92 %); not in enough steps to call it "
        "steady.");
  CHECK(headline_of(files_of(20, [&](int rank, int step) { return late((rank + step) % 4); })) ==
        "No rank stands out: whichever came last held up the others by 110.000 us a step "
        "(9.92 % "
        "of the mean step); most often ranks 0, 1, 2, 3, in 5 of 20 steps each.");
  CHECK(headline_of(files_of(20, [&](int rank, int) { return rank == 2 ? 505 : 500; })) ==
        "Rank 2 came last in 20 of 20 steps and held up the others by 5.000 us a step (0.45 % of "
        "the mean step); steady, but small.");
}

TEST_CASE("stragglers: a rank is told only where it came last more often than by chance") {
  // A rank out of 4 comes last in 3 of 5 steps by chance in more than 1 of 100 runs.
  const auto some = [](int rank, int step) {
    return rank == (step < 3 ? 2 : step) % 4 ? 540 : 500;
  };
  CHECK(headline_of(files_of(5, some)) ==
        "No rank stands out: whichever came last held up the others by 40.000 us a step (3.61 "
        "% of "
        "the mean step); most often rank 2, in 3 of 5 steps.");
  CHECK(headline_of(files_of(3, [](int rank, int) { return rank == 2 ? 505 : 500; })) ==
        "No rank stands out: whichever came last held up the others by 5.000 us a step (0.45 "
        "% of "
        "the mean step); most often rank 2, in 3 of 3 steps.");
  CHECK(headline_of(files_of(20, [](int, int) { return 500; })) == "No rank holds up the others.");
}

TEST_CASE("stragglers: sentence and table have the same delay and the same share of steps") {
  // Rank 2 is last in 17 of 20 steps, in 16 of them by much.
  const Run run = read_texts(files_of(20, [](int rank, int step) {
    if (rank != 2) return rank == 0 && step >= 17 ? 520 : 500;
    return step < 16 ? 800 : step == 16 ? 503 : 500;
  }));
  const Report report = stragglers_report(run);
  const ReportRow row = rows_of(report, "rows").at(2);
  CHECK(share_in(row, "waited_for_share") == 0.85);
  CHECK(number_in(row, "delay_ns_per_step") == 240'150);
  CHECK(report.headline.at(0).starts_with(
      "Rank 2 holds up the others by 240.150 us a step (21.7 % of the mean step), last in 85 % of "
      "20 steps; cause: compute ("));
}

TEST_CASE("stragglers: ranks that are not told apart have no delay of their own to tell") {
  JobTraces job;
  job.work_us[1] = job.work_us[2] = 100;
  const std::string headline = headline_of(job.composer());
  CHECK(
      headline.starts_with("Ranks 1 or 2 hold up the others, which wait at least 60.000 us a "
                           "step longer than these ("));
  CHECK(headline.find(" of the mean step), clearly so in 100 % of ") != std::string::npos);
}
