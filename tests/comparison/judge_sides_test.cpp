#include "comparison/judge_sides.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace traceloom {
namespace {

// A capture of 10 steps of 100 us on rank 0, with `kernel_ns` in all its steps together.
Capture capture(std::int64_t kernel_ns, std::int64_t calls = 40, double step = 100'000) {
  Capture made;
  made.value_ns = step;
  made.steps_ns.assign(10, static_cast<std::int64_t>(step));
  CaptureRank rank;
  rank.steps = 10;
  rank.rows = {{shared_key({Role::kernel, "aten::mm", "gemm"}), kernel_ns / 2, kernel_ns, calls}};
  made.ranks = {rank};
  return made;
}

std::vector<Capture> captures(std::int64_t kernel_ns) {
  return {capture(kernel_ns - 1000), capture(kernel_ns), capture(kernel_ns + 1000)};
}

MetricAnswer answer(const std::string& gate, const ComparedSides& sides) {
  return judge_sides(sides, {}, {read_metric_gate("--gate", gate)}).gates.at(0);
}

TEST_CASE("metric: times and calls are means a step, of the rank with most of it") {
  Capture one = capture(400'000);
  CaptureRank other = one.ranks[0];
  other.rank = 1;
  other.steps = 4;
  one.ranks.push_back(other);
  const auto value = [&](const char* gate) {
    return value_of(read_metric_gate("--gate", gate).metric, one);
  };
  CHECK(value("kernel<=+1%") == 100'000.0);
  CHECK(value("kernel.exposed<=+1%") == 50'000.0);
  CHECK(value("kernel[emm].calls<=+1%") == 10.0);
  CHECK(value("op[mm].time<=+1%") == 100'000.0);
  CHECK(value("device<=+1%") == 100'000.0);
  CHECK_FALSE(value("op[gemm].time<=+1%"));
  CHECK_FALSE(value("loader<=+1%"));
  CHECK_FALSE(value("memory<=2GiB"));
  CHECK(value("step<=+1%") == 100'000.0);
}

TEST_CASE("metric: percentiles of steps leave the first one out") {
  Capture one = capture(400'000);
  one.steps_ns = {900, 10, 20, 30, 40};
  const auto value = [&](const char* gate) {
    return value_of(read_metric_gate("--gate", gate).metric, one);
  };
  CHECK(value("step.p50<=+1%") == 20.0);
  CHECK(value("step.p99<=+1%") == 40.0);
  CHECK(value("step.max<=+1%") == 40.0);
}

// Captures whose steps take 100 us, but every fifth one `longer`.
std::vector<Capture> uneven(std::int64_t longer, std::size_t steps) {
  std::vector<Capture> made;
  for (std::int64_t i = 0; i < 3; ++i) {
    Capture one = capture(400'000);
    one.steps_ns.clear();
    for (std::size_t step = 0; step < steps; ++step)
      one.steps_ns.push_back(100'000 + 100 * i + (step % 5 == 0 ? longer : 0));
    one.value_ns = capture_value(one.steps_ns);
    made.push_back(one);
  }
  return made;
}

TEST_CASE("sides: the same steps of all captures, and no OK where their mean rose") {
  // The middle steps of both are alike, but for 41 steps more of them are.
  const JudgedSides longer = judge_sides({uneven(50'000, 11), uneven(50'000, 41)}, {}, {});
  CHECK(longer.steps_used == 11);
  CHECK(longer.judgement->kind == ChangeKind::ok);
  CHECK(longer.judgement->change == doctest::Approx(0).epsilon(1e-12));
  const JudgedSides worse = judge_sides({uneven(50'000, 21), uneven(150'000, 21)}, {}, {});
  CHECK(worse.judgement->is_vetoed);
  CHECK(worse.judgement->kind == ChangeKind::inconclusive);
  CHECK(*worse.judgement->change_of_all == doctest::Approx(0.1817).epsilon(0.01));
}

TEST_CASE("sides: a veto is told by a gate on the step, too, and steps without time are none") {
  const ComparedSides worse{uneven(50'000, 21), uneven(150'000, 21)};
  const MetricAnswer vetoed = answer("step<=+5%", worse);
  CHECK(vetoed.kind == ChangeKind::inconclusive);
  CHECK(vetoed.why == "step: the typical step did not change, the mean of all steps did (+18.2 %)");
  ComparedSides zeros{uneven(0, 6), uneven(0, 21)};
  for (Capture& capture : zeros.changed)
    for (std::size_t step = 1; step < 7; ++step) capture.steps_ns[step] = 0;
  CHECK_FALSE(judge_sides(zeros, {}, {}).judgement);
}

TEST_CASE("sides: a gate on the step takes the place of the question about it") {
  const auto sides = ComparedSides{uneven(0, 11), uneven(0, 11)};
  const auto judged = [&](const std::vector<const char*>& texts) {
    std::vector<MetricGate> gates;
    for (const char* const text : texts) gates.push_back(read_metric_gate("--gate", text));
    return judge_sides(sides, {}, gates);
  };
  CHECK(judged({}).judgement->limit == 0.05);
  const JudgedSides one = judged({"step<=+3%"});
  CHECK(one.judgement->alpha == 0.01);
  CHECK(one.judgement->floor == 0.03);
  CHECK(one.judgement->limit == 0.03);
  CHECK(one.gates.at(0).judgement->alpha == 0.01);
  // With another condition there are two questions, as with one on other work.
  CHECK(judged({"step<=+3%", "kernel<=+5%"}).judgement->alpha == 0.005);
  CHECK(judged({"step<=200us"}).gates.at(0).judgement->limit == 0);
}

// A run of three captures whose steps take `step_ns`, and a little more in later captures.
std::vector<Capture> run_of(std::int64_t step_ns) {
  std::vector<Capture> made = uneven(0, 11);
  for (Capture& one : made) {
    for (std::int64_t& step : one.steps_ns) step += step_ns - 100'000;
    one.value_ns = capture_value(one.steps_ns);
  }
  return made;
}

TEST_CASE("sides: a store is compared by runs, and its newest run stands for its rows") {
  ComparedSides sides{run_of(101'000), run_of(104'000)};
  CHECK(judge_sides(sides, {}, {}).judgement->kind == ChangeKind::regression);
  sides.is_by_run = true;
  const JudgedSides one = judge_sides(sides, {}, {});
  CHECK(one.judgement->kind == ChangeKind::inconclusive);
  CHECK(one.judgement->runs == 1);
  sides.is_by_run = false;
  sides.earlier_runs = {run_of(100'000), run_of(102'000)};
  const JudgedSides found = judge_sides(
      sides, {},
      {read_metric_gate("--gate", "kernel<=+5%"), read_metric_gate("--gate", "step<=101us")});
  CHECK(found.judgement->runs == 3);
  CHECK(found.judgement->base == doctest::Approx(101'100).epsilon(1e-4));
  CHECK(found.gates[0].base == doctest::Approx(found.gates[0].changed.value()));
  CHECK(found.gates[1].judgement->runs == 0);  // a limit is compared with the captures
  const MetricAnswer drift = [&] {
    ComparedSides many{run_of(104'000), run_of(103'800)};
    for (const std::int64_t ns :
         {99'800, 100'500, 100'600, 101'400, 101'800, 102'400, 102'600, 103'300, 103'700})
      many.earlier_runs.push_back(run_of(ns));
    return answer("step<=+2%", many);
  }();
  CHECK(drift.kind == ChangeKind::regression);
  CHECK(drift.why == "step: the newest 5 runs are longer than the first 5, +2.6 %");
  const MetricAnswer unclear = answer("step<=+3%", sides);
  CHECK(unclear.why ==
        "step: at a noise of 1.0 % between runs a change of 3 % is not ruled out (at "
        "most +5.4 %): more runs in the baseline or a higher limit would decide");
}

TEST_CASE("gate: calls that vary within a side fail only where more are shown") {
  const auto side = [](std::vector<std::int64_t> calls) {
    std::vector<Capture> made;
    for (const std::int64_t count : calls) made.push_back(capture(400'000, count));
    return made;
  };
  const auto kind = [&](const char* gate, std::vector<std::int64_t> base,
                        std::vector<std::int64_t> changed) {
    return answer(gate, {side(base), side(changed)}).kind;
  };
  CHECK(kind("kernel.calls<=+0%", {200, 200, 200}, {201, 201, 201}) == ChangeKind::regression);
  CHECK(kind("kernel.calls<=+0%", {200, 190, 210}, {205, 195, 212}) == ChangeKind::ok);
  CHECK(kind("kernel.calls<=+10%", {200, 190, 210}, {320, 310, 330}) == ChangeKind::regression);
  CHECK(kind("kernel.calls<=+70%", {200, 190, 210}, {320, 310, 330}) == ChangeKind::ok);
}

TEST_CASE("gate: the share of slow steps") {
  const ComparedSides sides{uneven(0, 21), uneven(100'000, 21)};
  const MetricAnswer found = answer("step.slow<=+2%", sides);
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why ==
        "step.slow went from 0 % of the steps to 20 % of the steps, more than +2 % of the steps");
  CHECK(answer("step.slow<=+25%", sides).kind == ChangeKind::ok);
  CHECK(answer("step.slow<=+2%", {sides.changed, sides.base}).kind == ChangeKind::ok);
  CHECK_THROWS_WITH(read_metric_gate("--gate", "step.slow<=5%"),
                    "--gate: 'step.slow<=5%': step.slow is compared with +2%");
}

TEST_CASE("gate: a relative change beyond the noise is a regression") {
  const MetricAnswer found = answer("kernel.time<=+10%", {captures(400'000), captures(480'000)});
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why == "kernel.time went from 40.000 us to 48.000 us, +20.0 %, more than +10 %");
  CHECK(found.base == 40'000.0);
  CHECK(found.changed == 48'000.0);
  CHECK(answer("kernel.time<=+30%", {captures(400'000), captures(480'000)}).kind == ChangeKind::ok);
}

TEST_CASE("gate: of two bounds it is enough that one holds") {
  const ComparedSides sides{captures(400'000), captures(480'000)};
  CHECK(answer("kernel.time<=+10% or +100us", sides).kind == ChangeKind::ok);
  const MetricAnswer found = answer("kernel.time<=+1% or +5us", sides);
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why == "kernel.time went from 40.000 us to 48.000 us, +20.0 %, more than +5.000 us");
}

TEST_CASE("gate: a share of the step is compared with the new side alone") {
  const ComparedSides sides{captures(400'000), captures(480'000)};
  CHECK(answer("kernel.exposed<=25%", sides).kind == ChangeKind::ok);
  const MetricAnswer found = answer("kernel.exposed<=20%", sides);
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why == "kernel.exposed is 24 % of the step, more than 20 % of the step");
}

TEST_CASE("gate: calls have no noise") {
  const auto with_calls = [](std::int64_t calls) {
    return std::vector<Capture>{capture(400'000, calls)};
  };
  CHECK(answer("kernel.calls<=+0%", {with_calls(40), with_calls(40)}).kind == ChangeKind::ok);
  const MetricAnswer found = answer("kernel.calls<=+0%", {with_calls(40), with_calls(41)});
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why == "kernel.calls went from 4 to 4.1, +2.5 %, more than +0 %");
  CHECK_FALSE(found.judgement);
  CHECK(answer("kernel.calls<=4", {with_calls(41), with_calls(40)}).kind == ChangeKind::ok);
}

TEST_CASE("gate: a peak of memory is compared exactly") {
  Capture base = capture(400'000);
  Capture changed = base;
  base.peak_bytes = 1'000'000;
  changed.peak_bytes = 1'100'000;
  CHECK(answer("memory<=+10%", {{base}, {changed}}).kind == ChangeKind::ok);
  CHECK(answer("memory<=+9%", {{base}, {changed}}).why ==
        "memory went from 976.6 KiB to 1.0 MiB, +10.0 %, more than +9 %");
}

TEST_CASE("gate: what cannot be known is inconclusive") {
  const ComparedSides sides{captures(400'000), captures(400'000)};
  CHECK(answer("loader<=5%", sides).kind == ChangeKind::inconclusive);
  CHECK(answer("loader<=5%", sides).why ==
        "loader: no middle step of any capture has such an event");
  CHECK(answer("memory<=1GiB", sides).why ==
        "memory: no capture has it; record with profile_memory");
  const MetricAnswer alone = answer("kernel<=+5%", {{capture(400'000)}, {capture(400'000)}});
  CHECK(alone.kind == ChangeKind::inconclusive);
  CHECK(alone.why ==
        "kernel: one capture a side does not show the noise between captures: take at least 3 a "
        "side");
  const MetricAnswer noisy = answer(
      "kernel<=+5%", {{capture(400'000), capture(480'000)}, {capture(400'000), capture(480'000)}});
  CHECK(noisy.kind == ChangeKind::inconclusive);
  CHECK(noisy.why ==
        "kernel may have changed by +45.7 % (95 % confidence), more than +5 %: 121 captures a side "
        "should be enough");
}

TEST_CASE("gate: work that is new is judged in its unit") {
  std::vector<Capture> base = captures(400'000);
  for (Capture& one : base) one.ranks[0].rows.clear();
  const MetricAnswer found = answer("kernel<=+10% or +1us", {base, captures(400'000)});
  CHECK(found.kind == ChangeKind::regression);
  CHECK(found.why == "kernel went from 0 ns to 40.000 us, more than +1.000 us");
  CHECK(answer("kernel<=+10%", {captures(400'000), base}).kind == ChangeKind::ok);
}

}  // namespace
}  // namespace traceloom
