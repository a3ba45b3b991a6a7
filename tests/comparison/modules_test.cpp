// Torch's modules in captures, in the rows of both sides, and in their matches.
#include "comparison/comparison.h"
#include "comparison/judge_sides.h"
#include "comparison/sides.h"
#include "input/input_list.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {
namespace {

Capture read_modules(const std::string& side) {
  const std::string path = TRACELOOM_SOURCE_DIR "/testdata/modules/" + side + ".json";
  return make_capture(read_run({.inputs = expand_inputs({path}), .shapes = true, .python = true}),
                      side);
}

// Returns the rows of kernels: "module name exclusive count".
std::vector<std::string> kernel_rows(const CaptureRank& rank) {
  std::vector<std::string> rows;
  for (const CaptureRow& row : rank.rows)
    if (row.key->role == Role::kernel)
      rows.push_back(
          fmt::format("{} {} {} {}", row.key->module, row.key->name, row.exclusive_ns, row.count));
  return rows;
}

TEST_CASE("make_capture: a kernel has a row for each module in which it was launched") {
  const Capture capture = read_modules("base");
  REQUIRE(capture.ranks.size() == 1);
  const CaptureRank& rank = capture.ranks[0];
  CHECK(rank.steps == 3);
  CHECK(kernel_rows(rank) ==
        std::vector<std::string>{" ampere_sgemm_128x64_tn 150000 3",
                                 "Attention.Linear ampere_sgemm_128x64_tn 240000 3",
                                 "MLP.Linear ampere_sgemm_128x64_tn 180000 3"});
  CHECK(rank.sequence == std::vector<std::uint32_t>{1, 2, 0});
  std::int64_t sum = 0;
  for (const CaptureRow& row : rank.rows) sum += row.exclusive_ns;
  CHECK(sum == rank.total_ns);
}

TEST_CASE("make_capture: without devices, operators of the host have their module") {
  TraceText trace;
  trace.cat("user_annotation").x("ProfilerStep#1", 0, 200);
  trace.cat("python_function").x("nn.Module: Net_0", 10, 100).x("nn.Module: Linear_0", 20, 15);
  trace.cat("cpu_op").x("aten::linear", 22, 10).x("aten::add", 50, 10).x("aten::add", 150, 10);
  const Capture capture = make_capture(
      read_texts({{"rank0.json", trace.object()}}, {.shapes = true, .python = true}), "c0");
  std::vector<std::string> rows;
  for (const CaptureRow& row : capture.ranks.at(0).rows)
    if (row.key->role == Role::cpu)
      rows.push_back(fmt::format("{} {} {}", row.key->name, row.key->module, row.exclusive_ns));
  CHECK(rows == std::vector<std::string>{"aten::add  10000", "aten::add Net 10000",
                                         "aten::linear Net.Linear 10000"});
}

TEST_CASE("metric: the work of a module, on what modules are recorded") {
  const auto value = [](const std::string& gate, const Capture& capture) {
    return value_of(read_metric_gate("--gate", gate).metric, capture);
  };
  const Capture changed = read_modules("new");
  CHECK(value("module[MLP]<=+10%", changed) == 84'000.0);
  CHECK(value("module[Linear].exposed<=+10%", changed) == 164'000.0);
  CHECK(value("module.calls<=+0", changed) == 2.0);
  CHECK(value("op[mm]<=+10%", changed) == 214'000.0);
  CHECK(value("module[Conv]<=+10%", changed) == std::nullopt);
}

TEST_CASE("compare: the slower kernel has the name of its module, in both directions") {
  const Capture base = read_modules("base");
  const Capture changed = read_modules("new");
  const Comparison found = compare({{base}, {changed}}, {});
  const RowDelta& first = found.rows.front();
  CHECK(first.base.module == "MLP.Linear");
  CHECK(first.changed.module == "MLP.Linear");
  CHECK(first.what == "slower calls");
  CHECK(first.delta_ns() == 24'000);
  CHECK(found.ranks.at(0).delta_ns() == 24'000);
  CHECK_FALSE(found.leaves_out_modules);
  const Comparison back = compare({{changed}, {base}}, {});
  REQUIRE(back.rows.size() == found.rows.size());
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    CHECK(back.rows[i].delta_ns() == -found.rows[i].delta_ns());
    CHECK(back.rows[i].changed.module == found.rows[i].base.module);
  }
}

// Returns the capture as an older version of the tools made it.
Capture without_module_rows(Capture capture) {
  const SideRank side = side_rank({&capture, 1}, 0, {}, ModuleRows::joined);
  CaptureRank& rank = capture.ranks.at(0);
  rank.rows.clear();
  for (const SideRow& row : side.rows)
    rank.rows.push_back({shared_key(row.key), row.exclusive_ns, row.total_ns,
                         static_cast<std::int64_t>(row.count)});
  rank.steps = 1;
  rank.sequence = side.sequence;
  return capture;
}

TEST_CASE("compare: a side with modules and one without are compared without them") {
  const Capture base = without_module_rows(read_modules("base"));
  REQUIRE(kernel_rows(base.ranks.at(0)) ==
          std::vector<std::string>{" ampere_sgemm_128x64_tn 190000 3"});
  const Comparison found = compare({{base}, {read_modules("new")}}, {});
  CHECK(found.leaves_out_modules);
  const RowDelta& first = found.rows.front();
  CHECK(first.level == MatchLevel::exact);
  CHECK(first.what == "slower calls");
  CHECK(first.base.module.empty());
  CHECK(first.changed.module.empty());
  CHECK(first.base.step_ns == 190'000);
  CHECK(first.changed.step_ns == 214'000);
  const Comparison alike = compare({{base}, {without_module_rows(read_modules("new"))}}, {});
  CHECK_FALSE(alike.leaves_out_modules);
  REQUIRE(alike.rows.size() == found.rows.size());
  for (std::size_t i = 0; i < found.rows.size(); ++i)
    CHECK(alike.rows[i].delta_ns() == found.rows[i].delta_ns());
}

TEST_CASE("compare: a gate on modules does not take what is not recorded for 0") {
  const CompareOptions options{.judge = {.noise = 0.01},
                               .gates = {read_metric_gate("--gate", "module[MLP]<=+10%"),
                                         read_metric_gate("--gate", "module[MLP].calls<=+0"),
                                         read_metric_gate("--gate", "module[MLP]<=1us"),
                                         read_metric_gate("--gate", "module[Conv]<=+10%")}};
  const Capture changed = read_modules("new");
  const Capture older = without_module_rows(changed);
  const auto whys = [&](const ComparedSides& sides) {
    std::vector<std::string> texts;
    for (const MetricAnswer& gate : compare(sides, options).gates) texts.push_back(gate.why);
    return texts;
  };
  const std::string lacks =
      ": some captures name no torch modules; record all of them with with_stack=True, and make "
      "older baselines again";
  const std::string none =
      "module[Conv]: no capture has work of a device that was launched in such a module";
  const std::vector<std::string> unknown{"module[MLP]" + lacks, "module[MLP].calls" + lacks,
                                         "module[MLP]" + lacks, none};
  CHECK(whys({{read_modules("base")}, {older}}) == unknown);
  CHECK(whys({{older}, {changed}}) == unknown);
  CHECK(whys({{read_modules("base"), older}, {changed}}) == unknown);
  const std::vector<std::string> known{
      "module[MLP] went from 60.000 us to 84.000 us, +40.0 %, more than +10 %", "",
      "module[MLP] is 84.000 us, more than 1.000 us", none};
  CHECK(whys({{read_modules("base")}, {changed}}) == known);
}

SideRow in_module(const std::string& module, const std::string& op, const std::string& name,
                  double calls = 1) {
  return {{Role::kernel, op, name, module}, 1000, 1000, calls};
}

SideRank side_with(std::vector<SideRow> rows) {
  SideRank side;
  side.rows = std::move(rows);
  for (std::uint32_t i = 0; i < side.rows.size(); ++i) side.sequence.push_back(i);
  return side;
}

// Returns each match as "level base rows > changed rows".
std::vector<std::string> words_of(const std::vector<RowMatch>& matches) {
  std::vector<std::string> words;
  words.reserve(matches.size());
  for (const RowMatch& match : matches)
    words.push_back(fmt::format("{} {} > {}", to_string(match.level), fmt::join(match.base, " "),
                                fmt::join(match.changed, " ")));
  std::sort(words.begin(), words.end());
  return words;
}

TEST_CASE("match_rows: kernels of one module match before those of other modules") {
  const SideRank base = side_with({in_module("A", "mm", "gemm"), in_module("B", "mm", "gemm")});
  const SideRank changed = side_with(
      {in_module("B", "mm", "gemm"), in_module("C", "mm", "gemm"), in_module("A", "mm", "gemm")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"name 0 > 2", "name 1 > 0", "none  > 1"});
}

TEST_CASE("match_rows: a kernel whose modules have other names is one match") {
  const SideRank base = side_with(
      {in_module("A", "mm", "gemm"), in_module("B", "mm", "gemm"), in_module("B", "add", "sum")});
  const SideRank changed = side_with({in_module("C", "mm", "gemm"), in_module("C", "add", "sum")});
  const std::vector<std::string> words = words_of(match_rows(base, changed));
  CHECK(words == std::vector<std::string>{"name 0 1 > 0", "name 2 > 1"});
  const std::vector<RowMatch> back = match_rows(changed, base);
  CHECK(words_of(back) == std::vector<std::string>{"name 0 > 0 1", "name 1 > 2"});
}

TEST_CASE("match_rows: a kernel that moved to a module that has it already is one match") {
  const SideRank base = side_with(
      {in_module("A", "mm", "gemm"), in_module("B", "mm", "gemm"), in_module("B", "add", "sum")});
  const SideRank changed =
      side_with({in_module("A", "mm", "gemm", 2), in_module("B", "add", "sum")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"name 0 1 > 0", "name 2 > 1"});
  CHECK(words_of(match_rows(changed, base)) ==
        std::vector<std::string>{"name 0 > 0 1", "name 1 > 2"});
  // Calls that are new do not join those that were there.
  const SideRank more = side_with({in_module("A", "mm", "gemm"), in_module("B", "mm", "gemm"),
                                   in_module("B", "add", "sum"), in_module("C", "mm", "gemm")});
  CHECK(words_of(match_rows(base, more)) ==
        std::vector<std::string>{"name 0 > 0", "name 1 > 1", "name 2 > 2", "none  > 3"});
}

TEST_CASE("match_rows: a renamed kernel matches in its module, whatever runs first") {
  const SideRank base = side_with({in_module("A", "mm", "g_1"), in_module("B", "mm", "g_2")});
  const SideRank changed = side_with({in_module("B", "mm", "g_8"), in_module("A", "mm", "g_7")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"canonical name 0 > 1", "canonical name 1 > 0"});
}

TEST_CASE("match_rows: another kernel of the operator matches in its module") {
  const SideRank base = side_with({in_module("A", "mm", "x"), in_module("B", "mm", "y")});
  const SideRank changed =
      side_with({in_module("B", "mm", "cutlass"), in_module("A", "mm", "cublas")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"place 0 > 1", "place 1 > 0"});
}

TEST_CASE("match_rows: a kernel that is split matches in its module") {
  const SideRank base = side_with({in_module("A", "mm", "x"), in_module("B", "mm", "y")});
  const SideRank changed = side_with({in_module("A", "mm", "cutlass"), in_module("A", "mm", "sum"),
                                      in_module("B", "mm", "cublas")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"place 0 > 0 1", "place 1 > 2"});
  CHECK(words_of(match_rows(changed, base)) ==
        std::vector<std::string>{"place 0 1 > 0", "place 2 > 1"});
}

TEST_CASE("match_rows: several kernels of both sides in a module match by their order") {
  const SideRank base = side_with({in_module("A", "mm", "first"), in_module("A", "mm", "x"),
                                   in_module("A", "mm", "middle"), in_module("A", "mm", "y")});
  SideRank changed = side_with({in_module("A", "mm", "first"), in_module("A", "mm", "v"),
                                in_module("A", "mm", "middle"), in_module("A", "mm", "w")});
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"name 0 > 0", "name 2 > 2", "place 1 > 1", "place 3 > 3"});
  changed.sequence.clear();
  CHECK(words_of(match_rows(base, changed)) ==
        std::vector<std::string>{"name 0 > 0", "name 2 > 2", "operator 1 3 > 1 3"});
}

TEST_CASE("compare: calls of a kernel that moved to another module are counted together") {
  Capture base = read_modules("base");
  Capture changed = read_modules("new");
  for (CaptureRow& row : changed.ranks.at(0).rows)
    if (row.key->module == "MLP.Linear") {
      RowKey moved = *row.key;
      moved.module = "FusedMLP.Linear";
      row.key = shared_key(moved);
    }
  const Comparison found = compare({{base}, {changed}}, {});
  const RowDelta& first = found.rows.front();
  CHECK(first.what == "slower calls");
  CHECK(first.level == MatchLevel::exact);
  CHECK(first.base.module == "MLP.Linear");
  CHECK(first.changed.module == "FusedMLP.Linear");
  CHECK(first.modules() == "MLP.Linear -> FusedMLP.Linear");
  CHECK(first.delta_ns() == 24'000);
}

TEST_CASE("compare: a row says that its work left a module") {
  RowDelta row;
  row.level = MatchLevel::exact;
  CHECK(row.modules().empty());
  row.base.module = "MLP";
  CHECK(row.modules() == "MLP -> -");
  row.level = MatchLevel::none;
  CHECK(row.modules() == "MLP");
  row = {};
  row.level = MatchLevel::place;
  row.changed.module = "MLP";
  CHECK(row.modules() == "- -> MLP");
  row.base.module = "MLP";
  CHECK(row.modules() == "MLP");
}

}  // namespace
}  // namespace traceloom
