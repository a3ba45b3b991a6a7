#include "comparison/captures/capture.h"

#include "comparison/comparison.h"
#include "input/input_list.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

Capture read_capture(const std::string& name) {
  const std::string path = TRACELOOM_SOURCE_DIR "/testdata/compare/" + name;
  const Run run = read_run({.inputs = expand_inputs({path}), .shapes = true, .python = true});
  return make_capture(run, name);
}

std::vector<Capture> read_side(const std::string& side) {
  return {read_capture(side + "/c0"), read_capture(side + "/c1"), read_capture(side + "/c2")};
}

const CaptureRow& row_of(const CaptureRank& rank, Role role, const std::string& name) {
  const auto found = std::find_if(rank.rows.begin(), rank.rows.end(), [&](const CaptureRow& row) {
    return row.key->role == role && row.key->name == name;
  });
  REQUIRE(found != rank.rows.end());
  return *found;
}

TEST_CASE("make_capture: the middle steps, and rows that add up to them") {
  const Capture capture = read_capture("base/c0");
  CHECK(capture.world_size == 2);
  CHECK(capture.devices == std::set<std::string>{"NVIDIA H100 80GB HBM3"});
  CHECK(capture.steps_ns ==
        std::vector<std::int64_t>{968000, 770000, 772000, 769000, 771000, 768000, 770000, 772000});
  CHECK(capture.value_ns == 770400.0);
  REQUIRE(capture.ranks.size() == 2);
  const CaptureRank& rank = capture.ranks[0];
  CHECK(rank.rank == 0);
  CHECK(rank.steps == 5);
  CHECK(rank.total_ns == 3852000);
  std::int64_t sum = 0;
  for (const CaptureRow& row : rank.rows) sum += row.exclusive_ns;
  CHECK(sum == rank.total_ns);
  const CaptureRow& gemm = row_of(rank, Role::kernel, "ampere_sgemm_128x64_tn");
  CHECK(gemm.key->op == "aten::mm");
  CHECK(gemm.exclusive_ns == 3012000);
  CHECK(gemm.total_ns == 3012000);
  CHECK(gemm.count == 5);
  // The launch in it counts as runtime, and the last 10 us begin with the kernel.
  CHECK(row_of(rank, Role::cpu, "aten::mm").exclusive_ns == 100000);
  CHECK(row_of(rank, Role::cpu, "aten::mm").total_ns == 150000);
  // Two of three launches are hidden by the kernel.
  CHECK(row_of(rank, Role::runtime, "cudaLaunchKernel").exclusive_ns == 50000);
  CHECK(row_of(rank, Role::runtime, "cudaLaunchKernel").count == 15);
  CHECK(row_of(rank, Role::other, "").exclusive_ns == 275000);
}

TEST_CASE("make_capture: the sequence of kernels and the shapes of operators") {
  const Capture capture = read_capture("base/c0");
  const CaptureRank& rank = capture.ranks[1];
  REQUIRE(rank.sequence.size() == 2);
  CHECK(rank.rows[rank.sequence[0]].key->op == "aten::mm");
  CHECK(rank.rows[rank.sequence[1]].key->op == "aten::add_");
  REQUIRE(capture.shapes.size() == 2);
  CHECK(capture.shapes[0].op == "aten::add_");
  CHECK(capture.shapes[1].op == "aten::mm");
  CHECK(capture.shapes[1].shapes == "[[512, 256], [256, 512]]");
  // Of all steps, of both ranks: 8 of 600 and 603 us, and 16 more in all on each.
  CHECK(capture.shapes[1].ns == (8 * 600 + 8 * 603 + 2 * 16) * 1000);
}

TEST_CASE("compare: a capture compared with itself shows no change") {
  const std::vector<Capture> side = read_side("base");
  const Comparison found = compare({side, side}, {});
  CHECK(found.kind == ChangeKind::ok);
  CHECK(found.differences.empty());
  REQUIRE(found.judgement);
  CHECK(found.judgement->change == 0.0);
  for (const RankDelta& rank : found.ranks) CHECK(rank.delta_ns() == 0);
  for (const RowDelta& row : found.rows) {
    CHECK(row.delta_ns() == 0);
    CHECK(row.what.empty());
    CHECK(row.level == MatchLevel::exact);
  }
}

TEST_CASE("compare: a renamed and slower kernel is one row, and the rows add up to the step") {
  const Comparison found = compare({read_side("base"), read_side("new")}, {});
  CHECK(found.kind == ChangeKind::regression);
  REQUIRE(found.shown);
  CHECK(found.moved == std::vector<std::int64_t>{0, 1});
  const RankDelta& rank = found.ranks[*found.shown];
  std::int64_t of_rows = 0;
  for (const RowDelta& row : found.rows) of_rows += row.delta_ns();
  std::int64_t of_roles = 0;
  for (std::size_t role = 0; role < kRoleCount; ++role)
    of_roles += rank.role_delta_ns(static_cast<Role>(role));
  CHECK(of_rows == rank.delta_ns());
  CHECK(of_roles == rank.delta_ns());
  const RowDelta& first = found.rows.front();
  CHECK(first.what == "renamed, slower calls");
  CHECK(first.level == MatchLevel::canonical);
  CHECK(first.base.name == "ampere_sgemm_128x64_tn");
  CHECK(first.changed.name == "ampere_sgemm_64x64_tn");
  CHECK(first.delta_ns() == rank.delta_ns());
  CHECK(found.matched.base[static_cast<std::size_t>(MatchLevel::none)] == 0.0);
}

TEST_CASE("compare: the other way round has the same deltas with the other sign") {
  const Comparison there = compare({read_side("base"), read_side("new")}, {});
  const Comparison back = compare({read_side("new"), read_side("base")}, {});
  CHECK(back.kind == ChangeKind::improvement);
  CHECK((1 + back.judgement->change) * (1 + there.judgement->change) == doctest::Approx(1.0));
  REQUIRE(back.rows.size() == there.rows.size());
  CHECK(back.rows.front().delta_ns() == -there.rows.front().delta_ns());
  CHECK(back.rows.front().what == "renamed, faster calls");
  for (std::size_t i = 0; i < back.ranks.size(); ++i)
    CHECK(back.ranks[i].delta_ns() == -there.ranks[i].delta_ns());
}

TEST_CASE("compare: a second look is taken only if the first leaves a doubt") {
  const std::vector<Capture> base = read_side("base");
  const std::vector<Capture> changed = read_side("new");
  const Comparison clear = compare({base, changed, {}, {base[0]}, {changed[0]}}, {});
  CHECK(clear.looks == 1);
  CHECK(clear.kind == ChangeKind::regression);
  CHECK(clear.judgement->alpha == 0.005);
  // One capture a side shows no noise.
  const Comparison second =
      compare({{base[0]}, {changed[0]}, {}, {base[1], base[2]}, {changed[1], changed[2]}}, {});
  CHECK(second.looks == 2);
  CHECK(second.kind == ChangeKind::regression);
  const Comparison together = compare({base, changed}, {});
  CHECK(second.judgement->change == together.judgement->change);
  CHECK(second.rows.front().delta_ns() == together.rows.front().delta_ns());
}

// Two ranks: `comm` ns of communication and `own` ns of a kernel a step.
Capture two_ranks(const std::vector<std::int64_t>& own, const std::vector<std::int64_t>& comm) {
  Capture capture;
  capture.steps_ns.assign(6, own[0] + comm[0]);
  capture.value_ns = static_cast<double>(own[0] + comm[0]);
  for (std::size_t i = 0; i < own.size(); ++i) {
    CaptureRank rank;
    rank.rank = static_cast<std::int64_t>(i);
    rank.steps = 1;
    rank.total_ns = own[i] + comm[i];
    rank.rows = {{shared_key({Role::kernel, "aten::mm", "gemm"}), own[i], own[i], 1},
                 {shared_key({Role::communication, "", "ncclAllReduce"}), comm[i], comm[i], 1}};
    capture.ranks.push_back(rank);
  }
  return capture;
}

TEST_CASE("compare: shows the rank whose work changed as the step did, not one that waits more") {
  const Comparison found =
      compare({{two_ranks({1000, 900}, {20, 120})}, {two_ranks({500, 1000}, {620, 120})}}, {});
  REQUIRE(found.shown);
  CHECK(found.ranks[*found.shown].rank == 1);
  CHECK(found.moved == std::vector<std::int64_t>{1});
  CHECK(found.rows.front().base.name == "gemm");
  CHECK(found.rows.front().delta_ns() == 100);
}

// The number of calls and the ns a step of a kernel, in each capture.
using Calls = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::string word_of(const Calls& base, const Calls& changed) {
  const auto side_of = [](const Calls& side) {
    std::vector<Capture> captures;
    for (const auto& [count, ns] : side) {
      captures.push_back(two_ranks({ns}, {100'000}));
      captures.back().ranks[0].rows[0].count = count;
    }
    return captures;
  };
  const Comparison found = compare({side_of(base), side_of(changed)}, {});
  const auto row =
      std::ranges::find(found.rows, "gemm", [](const RowDelta& one) { return one.base.name; });
  REQUIRE(row != found.rows.end());
  return row->what;
}

TEST_CASE("compare: a row is called slower only beyond its noise") {
  const Calls base{{1, 1000}, {1, 1010}, {1, 990}};
  // Their standard error is 8.2, and t of the changes is 4.9, 3.7, 3.8 and -4.9: 3.75 is needed.
  CHECK(word_of(base, {{1, 1040}, {1, 1050}, {1, 1030}}) == "slower calls");
  CHECK(word_of(base, {{1, 1030}, {1, 1040}, {1, 1020}}).empty());
  CHECK(word_of(base, {{1, 1031}, {1, 1041}, {1, 1021}}) == "slower calls");
  CHECK(word_of(base, {{1, 960}, {1, 970}, {1, 950}}) == "faster calls");
  // A change of less than 2 % has no name, however sure it is.
  const Calls still(2, {1, 1000});
  CHECK(word_of(still, Calls(2, {1, 1019})).empty());
  CHECK(word_of(still, Calls(2, {1, 1020})) == "slower calls");
  // One capture a side shows no noise.
  CHECK(word_of({{1, 1000}}, {{1, 1049}}).empty());
  CHECK(word_of({{1, 1000}}, {{1, 1050}}) == "slower calls");
}

TEST_CASE("compare: a row has more calls only beyond their noise, which mostly is none") {
  CHECK(word_of({{20, 1000}}, {{21, 1000}}) == "more calls");
  CHECK(word_of({{20, 1000}, {20, 1000}}, {{18, 1000}, {18, 1000}}) == "fewer calls");
  CHECK(
      word_of({{18, 1000}, {20, 1000}, {22, 1000}}, {{19, 1000}, {21, 1000}, {26, 1000}}).empty());
}

TEST_CASE("compare report: no rank is named where none changed") {
  const std::vector<Capture> side(2, two_ranks({1000, 900}, {20, 120}));
  const ComparedSides sides{side, side};
  const CompareOptions options{.gates = {read_metric_gate("--gate", "kernel.calls<=0")}};
  const Comparison found = compare(sides, options);
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.moved.empty());
  const Report report = compare_report(sides, options, found);
  REQUIRE(report.headline.size() == 3);
  CHECK(report.headline[0] == "REGRESSION: kernel.calls is 1, more than 0");
  CHECK(report.headline[1].starts_with("Step: 1.020 us in 2 captures to 1.020 us in 2 captures"));
  CHECK(report.headline[2].starts_with("Noise: 0.00 % between captures"));
}

TEST_CASE("compare: a capture with too few steps changes nothing") {
  const std::vector<Capture> base = read_side("base");
  std::vector<Capture> changed = read_side("base");
  Capture shorter = read_capture("new/c0");
  shorter.value_ns = std::nullopt;
  changed.push_back(shorter);
  const Comparison found = compare({base, changed}, {});
  CHECK(found.kind == ChangeKind::ok);
  for (const RankDelta& rank : found.ranks) CHECK(rank.delta_ns() == 0);
  CHECK(found.rows.size() == compare({base, base}, {}).rows.size());
}

TEST_CASE("compare: the order of captures does not matter") {
  const std::vector<Capture> base = read_side("base");
  const std::vector<Capture> changed = read_side("new");
  const Comparison some = compare({base, changed}, {});
  const Comparison others = compare({{base[2], base[0], base[1]}, changed}, {});
  CHECK(others.judgement->change == some.judgement->change);
  CHECK(others.rows.front().delta_ns() == some.rows.front().delta_ns());
}

}  // namespace
}  // namespace traceloom
