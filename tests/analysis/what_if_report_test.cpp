#include "analysis/job/job_reports.h"
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

using namespace traceloom;

namespace {

// testdata/small/coarse.json: 2 stages of 2 replicas, 2 micro-batches, steps 4, 7 and 9. All
// forward passes take 10 us but those of rank 2 (stage 1, replica 0), which take 18; backward
// passes 20, messages 1, params-all-gather 2, grads-reduce-scatter 4, clipping 1. The optimizer
// takes 3 us, and 103 in step 9.
const std::string kJob = std::string(TRACELOOM_SOURCE_DIR) + "/testdata/small/coarse.json";

Report answer(const std::string& text, const std::string& without_steps = "9") {
  return what_if_report(read_texts({{"job.json", text}}),
                        {.without_steps = parse_number_ranges(without_steps).value()}, {});
}
std::string value_of(const Report& report, const std::string& key) {
  const auto found = std::ranges::find(report.values, key, [](const auto& of) { return of.first; });
  return found == report.values.end() ? "(none)" : found->second;
}
// Replaces the first `from` after the first `after`.
std::string changed(std::string text, const std::string& after, const std::string& from,
                    const std::string& to) {
  const std::size_t at = text.find(from, text.find(after));
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
// Removes all lines that have both texts.
std::string without_lines(const std::string& text, const std::string& a, const std::string& b) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(a) == std::string::npos || line.find(b) == std::string::npos) kept += line + '\n';
  return kept;
}
// Returns why a line is refused.
std::string refusal(const std::string& text) {
  try {
    answer(text);
  } catch (const Error& error) {
    return error.problem();
  }
  return "it is not refused";
}

}  // namespace

// The ideal forward pass takes (6 x 10 + 2 x 18) / 8 = 12 us, everything else what it takes. Then,
// in stage 1: gather 0-2, message 0 14-15, F0 15-27, B0 27-47, F1 47-59, B1 59-79, message back
// 79-80; in stage 0: B1 80-100, reduce-scatter 104, clip 105, optimizer 108.
// As recorded, in replica 0: F0 of stage 1 13-31, B0 51, F1 69, B1 89, then 90, 110, 114, 115, 118.
TEST_CASE("what-if: a coarse time line, worked out by hand") {
  const Report report = answer(read_file(kJob));
  CHECK(value_of(report, "step_ns") == "118000");
  CHECK(value_of(report, "ideal_step_ns") == "108000");
  CHECK(std::stod(value_of(report, "slowdown")) == doctest::Approx(118.0 / 108));
  // With the forward passes of rank 2 at 12 us: 13-25, 45, 57, 77, 78, 98, 102, 103, 106.
  CHECK(value_of(report, "slowest_ranks") == "[2]");
  CHECK(value_of(report, "slowest_ranks_gain_ns") == "12000");
  CHECK(std::stod(value_of(report, "slowest_ranks_recovered")) == doctest::Approx(1.2));
  CHECK(std::stod(value_of(report, "last_stage_recovered")) == doctest::Approx(1.2));
  CHECK(report.headline == std::vector<std::string>{
                               "4 ranks in 2 stages x 2 replicas, 2 steps of coarse operations, "
                               "replayed: slowdown 1.093",
                               "Verdict: rank 2 (at most 12.000 us of 118.000 us, 10.2 % of the "
                               "mean step)",
                               "  - all operations as fast as their kind: at most 10.000 us of "
                               "118.000 us, 8.5 % of the mean step",
                               "  - stage 1 alone: at most 12.000 us of 118.000 us, 10.2 % of the "
                               "mean step",
                               "  - replica 0 alone: at most 10.000 us of 118.000 us, 8.5 % of the "
                               "mean step",
                               "  - forward-compute alone: at most 10.000 us of 118.000 us, 8.5 % "
                               "of the mean step"});
}

TEST_CASE("what-if: each part of a coarse time line alone") {
  const Report report = answer(read_file(kJob));
  const auto kinds = rows_of(report, "kinds");
  CHECK(text_in(kinds.at(0), "kind") == "forward-compute");
  CHECK(share_in(kinds.at(0), "slowdown") == doctest::Approx(118.0 / 108));
  CHECK(number_in(kinds.at(0), "gain_ns") == 10'000);
  CHECK(share_in(kinds.at(0), "recovered") == doctest::Approx(1));
  CHECK(kinds.size() == 9);
  CHECK(share_in(kinds.at(1), "slowdown") == 1);
  CHECK(number_in(kinds.at(1), "gain_ns") == 0);
  // Stage 0 at 10 us, stage 1 at 12: 2-12, 13-25, 45, 57, 77, 78, 98, 106. The other way: 15-33,
  // 53, 71, 91, 92, 112, 120.
  const auto stages = rows_of(report, "stages");
  CHECK(share_in(stages.at(0), "slowdown") == doctest::Approx(106.0 / 108));
  CHECK(share_in(stages.at(1), "slowdown") == doctest::Approx(120.0 / 108));
  CHECK(number_in(stages.at(0), "gain_ns") == -2'000);  // its passes of 10 us become 12
  CHECK(number_in(stages.at(1), "gain_ns") == 12'000);
  // Replica 1 as recorded ends at 102, but its last reduction waits for replica 0.
  const auto replicas = rows_of(report, "replicas");
  CHECK(share_in(replicas.at(0), "slowdown") == doctest::Approx(118.0 / 108));
  CHECK(share_in(replicas.at(1), "slowdown") == 1);
  const ReportRow rank = rows_of(report, "ranks").at(0);
  CHECK(number_in(rank, "rank") == 2);
  CHECK(number_in(rank, "stage") == 1);
  CHECK(number_in(rank, "replica") == 0);
  CHECK(share_in(rank, "score") == doctest::Approx(118.0 / 108));
  CHECK(number_in(rank, "gain_ns") == 12'000);
  CHECK(rows_of(report, "steps").size() == 2);
}

// Each optimizer takes 3, 3 and 103 us: 36 1/3 on the mean.
TEST_CASE("what-if: a step that is left out does not count") {
  const Report report = answer(read_file(kJob), "0");
  const auto steps = rows_of(report, "steps");
  CHECK(number_in(steps.at(2), "step") == 9);
  CHECK(number_in(steps.at(2), "step_ns") == 218'000);
  CHECK(number_in(steps.at(2), "ideal_ns") == 141'333);
  CHECK(value_of(report, "step_ns") == "151333");
}

TEST_CASE("what-if: median of communication, mean of computing") {
  // One message of eight that takes 9 us is no usual one; half of that, 4.5 us, would be the mean.
  const std::string text = changed(read_file(kJob), "\"forward-send\"", "\"dur\": 1", "\"dur\": 9");
  const Report report = answer(text);
  CHECK(value_of(report, "ideal_step_ns") == "108000");
}

TEST_CASE("what-if: what is missing in a coarse time line") {
  const std::string job = read_file(kJob);
  const std::string other =
      ": all replicas need the same operations in all steps; "
      "--without-steps leaves steps out";
  CHECK(refusal(changed(job, "\"backward-send\"", "\"seq_id\": 0", "\"seq_id\": 5")) ==
        "rank 2 has a backward-send 0 of stage 1 in step 7, unlike rank 2 in step 4" + other);
  CHECK(refusal(changed(job, "\"optimizer\"", "\"step\": 4", "\"step\": 5")) ==
        "rank 0 has no forward-compute 0 of stage 0 in step 5, unlike rank 0 in step 4" + other);
  CHECK(refusal(
            changed(job, "\"gc\", \"ph\": \"X\", \"pid\": 1", "\"seq_id\": 0", "\"seq_id\": 3")) ==
        "rank 1 has no gc 0 of stage 0 in step 4, unlike rank 0 in step 4" + other);
  CHECK(refusal(changed(job, "\"gc\"", "\"seq_id\"", "\"no_id\"")) ==
        "rank 0 has a gc without seq_id");
  CHECK(refusal(changed(job, "\"gc\"", "\"step\": 4", "\"step\": null")) ==
        "rank 0 has a gc without step");
  CHECK(refusal(changed(job, "\"forward-compute\"", "\"model_chunk\": 0", "\"model_chunk\": 1")) ==
        "rank 0 has a forward-compute of model_chunk 1: which messages of an interleaved pipeline "
        "belong together is not known");
  CHECK(refusal(changed(job, "\"gc\"", "\"cat\": \"gc\"", "\"cat\": \"garbage\"")) ==
        "rank 0 has 1 event of a kind that is not known: 'gc'");
  CHECK(refusal(changed(job, "\"tid\": 10, \"ts\": 51", "51", "1")) ==
        "the operations of a step wait for each other in a circle");
  CHECK(refusal(without_lines(job, "\"forward-recv\"", "\"seq_id\": 1")) ==
        "forward-send 1 of stage 0 has no partner in its step");
  CHECK(refusal(without_lines(job, "\"forward-compute\"", "\"seq_id\": 1")) ==
        "forward-send 1 of stage 0 has no forward-compute of its number");
  CHECK(refusal(changed(job, "\"tid\": 15, \"args\": {\"name\"", "PP rank 1", "PP rank 0")) ==
        "stage 0 has 3 ranks, stage 1 has 1: the job has replicas of whole stages");
}

// Waits of ranks say nothing of who is slow where each waits for its neighbours in the pipeline.
TEST_CASE("coarse time lines: rows give the mesh, and what-if alone says who is slow") {
  const Run run = read_texts({{"job.json", read_file(kJob)}});
  CHECK(mesh_report(run).headline.at(0) ==
        "4 ranks: tp 1 x pp 2 x dp 2 (known from the names of rows).");
  CHECK(stragglers_report(run).headline.at(0) ==
        "Cannot tell which rank holds up the others: operations of a coarse time line are replayed "
        "by trace-stats what-if alone.");
  // Of a step of rank 0 (stage 0): gather 2, scatter 4, clip 1 us of collectives; 4 messages of 1.
  const ReportRow first = rows_of(bubbles_report(run), "ranks").at(0);
  const double step_us = static_cast<double>(number_in(first, "step_ns")) / 1000;
  CHECK(share_in(first, "collective_unknown_share") * step_us == doctest::Approx(7));
  CHECK(share_in(first, "message_unknown_share") * step_us == doctest::Approx(4));
}
