#include "comparison/captures/compared_steps.h"

#include "comparison/comparison.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

const StepContent kPlain{"gemm", "norm", "relu"};
const StepContent kWithAdam{"adam", "gemm", "norm", "relu"};

// A capture of 11 steps of 100 us; every fifth one, from `phase`, has an optimizer and takes
// `longer` than these.
Capture accumulating(std::int64_t longer, std::size_t phase = 0) {
  Capture made;
  made.contents.different = {kPlain, kWithAdam};
  for (std::size_t step = 0; step < 11; ++step) {
    const bool has_adam = step % 5 == phase;
    made.contents.of_step.push_back(has_adam ? 1 : 0);
    made.steps_ns.push_back(100'000 + (has_adam ? longer : 0));
  }
  made.value_ns = capture_value(made.steps_ns);
  CaptureRank all;  // the middle ones are those without an optimizer
  all.steps = 6;
  all.rows = {{shared_key({Role::kernel, "mm", "gemm"}), 600'000, 600'000, 6}};
  made.ranks.push_back(all);
  for (std::uint32_t content = 0; content < 2; ++content) {
    CaptureRank rank;
    rank.content = content;
    rank.steps = content == 0 ? 6 : 2;
    const auto steps = static_cast<std::int64_t>(rank.steps);
    rank.rows = {
        {shared_key({Role::kernel, "mm", "gemm"}), steps * 100'000, steps * 100'000, steps}};
    if (content == 1)
      rank.rows.insert(rank.rows.begin(), {shared_key({Role::kernel, "adam", "adam"}),
                                           steps * longer, steps * longer, steps});
    made.ranks.push_back(rank);
  }
  return made;
}

TEST_CASE("compared steps: kinds count for their share of both sides") {
  const std::vector<Capture> base{accumulating(50'000), accumulating(50'000, 2)};
  const std::vector<Capture> changed{accumulating(80'000), accumulating(80'000, 1)};
  const ComparedSteps steps(base, changed);
  CHECK(steps.count == 11);
  CHECK(steps.shares == std::vector<std::int64_t>{8, 32});  // with an optimizer, and without
  CHECK(capture_value(base[0], steps) == doctest::Approx(100'000 + 50'000 / 5));
  CHECK(capture_value(base[1], steps) == doctest::Approx(100'000 + 50'000 / 5));
  CHECK(capture_value(changed[1], steps) == doctest::Approx(100'000 + 80'000 / 5));
  CHECK(base[0].value_ns == 100'000);  // the optimizer is in the longest fifth
  // All are slow among all steps, and none among those of its kind.
  CHECK(count_slow_steps(used_steps(changed[0].steps_ns)) == 2);
  CHECK(count_slow_steps(changed[0], steps) == 0);
}

TEST_CASE("compared steps: rows are weighed as the number is, and add up to it") {
  const std::vector<Capture> base{accumulating(50'000), accumulating(50'000, 2)};
  const std::vector<Capture> changed{accumulating(80'000), accumulating(80'000, 1)};
  const Comparison found = compare({base, changed}, {});
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.judgement->change == doctest::Approx(116.0 / 110 - 1));
  CHECK(found.ranks.at(0).base_ns == 110'000);
  CHECK(found.ranks.at(0).changed_ns == 116'000);
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].base.name == "adam");
  CHECK(found.rows[0].delta_ns() == 6'000);
  CHECK(found.rows[0].base.calls == doctest::Approx(0.2));
  CHECK(found.rows[1].delta_ns() == 0);
  CHECK(found.rows[1].base.calls == doctest::Approx(1));
  const MetricGate gate = read_metric_gate("--gate", "kernel[adam].time<=+10%");
  CHECK(value_of(gate.metric, base[0], found.steps) == doctest::Approx(10'000));
  // Of a capture by itself, its middle steps count, which have none.
  CHECK_FALSE(value_of(gate.metric, base[0]));
}

TEST_CASE("compared steps: a renamed kernel does not part kinds") {
  std::vector<Capture> changed{accumulating(80'000), accumulating(80'000, 1)};
  for (Capture& capture : changed)
    capture.contents.different = {{"norm", "relu", "tuned"}, {"adam", "norm", "relu", "tuned"}};
  const std::vector<Capture> base{accumulating(50'000), accumulating(50'000)};
  const ComparedSteps steps(base, changed);
  CHECK(steps.shares == std::vector<std::int64_t>{8, 32});
  CHECK(capture_value(changed[0], steps) == doctest::Approx(116'000));
}

TEST_CASE("compared steps: what not all captures have belongs to what it has most in common with") {
  std::vector<Capture> base{accumulating(50'000), accumulating(50'000)};
  base[1].contents.different.push_back({"autotuned", "gemm", "norm", "relu"});
  base[1].contents.of_step[3] = 2;
  const ComparedSteps steps(base, {accumulating(50'000)});
  CHECK(steps.shares == std::vector<std::int64_t>{6, 24});
  CHECK(steps.lengths(base[1])[1].size() == 8);
}

TEST_CASE("compared steps: a kind of one side that the other has once goes to its partner") {
  // The new version has a third kernel in all plain steps, and the base in a single step.
  std::vector<Capture> base{accumulating(50'000), accumulating(50'000)};
  std::vector<Capture> changed{accumulating(50'000)};
  changed[0].contents.different[0] = {"adam", "gemm", "relu"};
  base[1].contents.different.push_back({"adam", "gemm", "relu"});
  base[1].contents.of_step[3] = 2;
  const ComparedSteps there(base, changed);
  const ComparedSteps back(changed, base);
  CHECK(there.lengths(base[1])[1].size() == 8);
  for (const Capture& capture : {base[0], base[1], changed[0]})
    CHECK(capture_value(capture, there) == capture_value(capture, back));
}

TEST_CASE("compared steps: one kind where the sides have not as many, or do not say") {
  const std::vector<Capture> base{accumulating(50'000)};
  std::vector<Capture> changed{accumulating(50'000)};
  changed[0].contents.of_step.assign(11, 0);
  const ComparedSteps other(base, changed);
  CHECK(other.shares.size() == 1);
  CHECK(other.contents == 2);
  CHECK(other.rows_of(base[0], 0).size() == 1);
  CHECK_FALSE(other.rows_of(base[0], 0)[0].rank->content);
  CHECK(capture_value(base[0], other) == capture_value(base[0].steps_ns));
  changed[0].contents = {};
  CHECK(ComparedSteps(base, changed).shares.size() == 1);
  CHECK(ComparedSteps(base, {}).shares.size() == 1);
  changed[0] = accumulating(50'000);
  changed[0].contents.different = {{"other"}, {"another"}};
  CHECK(ComparedSteps(base, changed).shares.size() == 1);  // nothing in common
  // One more than kMostContents stands for many: those that are left were joined to others.
  changed.assign(2, accumulating(50'000));
  for (const char* const name : {"a", "b", "c", "d"})
    changed[0].contents.different.push_back({"adam", name, "relu"});
  for (std::uint32_t step : {1U, 2U, 3U}) changed[0].contents.of_step[step] = step + 1;
  CHECK(ComparedSteps(base, changed).shares.size() == 2);
  changed[0].contents.of_step[4] = 5;
  CHECK(ComparedSteps(base, changed).shares.size() == 1);
  CHECK(ComparedSteps(base, changed).contents == 6);
  CHECK(ComparedSteps({}, {}).count == kAllSteps);
}

// Steps of 100 us with a kernel; those whose number is in `with_adam` have another one at the end.
Run run_of(std::size_t steps, const std::vector<std::size_t>& with_adam) {
  TraceText text;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto at = static_cast<std::int64_t>(100 * i);
    text.cat("user_annotation").x(fmt::format("ProfilerStep#{}", i), at, 100);
    text.cat("kernel").x(fmt::format("gemm_{}x64", 32 << (i % 2)), at + 10, 20);
    if (std::ranges::find(with_adam, i) != with_adam.end())
      text.cat("kernel").x("adam_kernel", at + 50, 30);
  }
  return read_texts({{"rank0.json", text.array()}}, {.shapes = true, .python = true});
}

TEST_CASE("contents: of many, one more than are compared is kept, and the report says so") {
  TraceText text;
  for (int i = 0; i < 9; ++i) {
    text.cat("user_annotation").x(fmt::format("ProfilerStep#{}", i), 100 * i, 100);
    text.cat("kernel").x(fmt::format("expert_{}", static_cast<char>('a' + i)), 100 * i + 10, 20);
  }
  const Capture capture = make_capture(
      read_texts({{"rank0.json", text.array()}}, {.shapes = true, .python = true}), "c0");
  CHECK(capture.contents.count() == kMostContents + 1);
  const ComparedSides sides{{capture}, {capture}};
  const Comparison found = compare(sides, {});
  CHECK(found.steps.shares.size() == 1);
  CHECK(std::ranges::count(
            compare_report(sides, {}, found).notes,
            "steps differ in what ran in them (more than 5 kinds in a capture), and captures are "
            "not known to share 2 to 4 such kinds: all are compared as one kind, so that a change "
            "of rarer steps may be missed") == 1);
}

TEST_CASE("contents: canonical names of the kernels that begin in a step") {
  const Capture capture = make_capture(run_of(9, {4, 8}), "c0");
  CHECK(capture.contents.different ==
        std::vector<StepContent>{{"gemm_x"}, {"adam_kernel", "gemm_x"}});
  CHECK(capture.contents.of_step == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 0, 0, 0, 1});
  REQUIRE(capture.ranks.size() == 3);
  CHECK(ranks_in(capture) == std::vector<std::int64_t>{0});
  CHECK_FALSE(capture.ranks[0].content);
  CHECK(capture.ranks[0].steps == 6);
  CHECK(capture.ranks[1].content == 0U);
  CHECK(capture.ranks[1].steps == 4);
  CHECK(capture.ranks[2].steps == 2);
  CHECK(capture.ranks[2].total_ns == 200'000);
  CHECK(capture.ranks[2].sequence.size() == 2);
  // A capture without a number has one list of rows.
  const Capture small = make_capture(run_of(5, {2}), "c0");
  CHECK(small.contents.of_step.empty());
  REQUIRE(small.ranks.size() == 1);
  CHECK(small.ranks[0].steps == 4);
}

}  // namespace
}  // namespace traceloom
