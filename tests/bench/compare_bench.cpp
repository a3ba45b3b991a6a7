// compare_bench: how often compare cries wolf, and what it finds, over generated captures.
//
//   compare_bench                # 1,000 pairs of sides a cell, disjoint captures
//   compare_bench --pairs 20     # a short run
//   compare_bench --numbers --pairs 10000   # step times alone, without traces: narrow intervals
//   compare_bench --settings     # the settings of compare_settings.h alone
//
// A capture is a trace file of one rank with 20 steps, written to a folder, read and judged as
// `trace-stats compare` does it. The noise is a model, not measured on GPUs: captures differ by a
// lognormal factor, steps by a lognormal AR(1) factor (1.5 %, rho 0.5); 1 % of steps stall for 0.28
// to 1.4 of a step; the step drifts by 0.3 % in a capture; the first step takes twice as long.
// Cells of 3, 5 and 10 captures a side share captures; the pairs in one cell never do.
//
// A second table has the settings of compare_settings.h, on step times alone.
//
// Prints each rate with its 95 % interval (Wilson) beside what was promised. The exit code is 1 if
// a rate misses its promise at the 99.9 % level, since three of 54 rates would miss at 95 % by
// chance. Promises were simulated as well and are rounded, so their own error counts.
//
// A change as large as the floor is found in at most half of the cases, however low the noise: the
// estimate lies below the true change as often as above it, and below the floor there is no
// regression.
#include "compare_settings.h"
#include "comparison/comparison.h"
#include "comparison/judge/judge.h"
#include "input/input_list.h"
#include "rates.h"
#include "support/temporary_folder.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace traceloom::bench {
namespace {

constexpr std::array<std::size_t, 3> kCaptures{3, 5, 10};
constexpr std::array<double, 3> kNoises{0.005, 0.01, 0.02};
constexpr std::array<double, 6> kChanges{0, 0.01, 0.02, 0.03, 0.05, 0.10};
constexpr double kMostFalseAlarms = 0.01;
// Regressions found of 100, simulated with 1,500 pairs a cell: [captures][noise][change].
constexpr double kPromisedPairs = 1500;
constexpr double kPromised[3][3][6] = {
    {{0, 3, 33, 76, 99, 100}, {0, 4, 17, 42, 85, 100}, {0, 2, 7, 14, 35, 89}},
    {{0, 2, 49, 98, 100, 100}, {0, 6, 36, 83, 100, 100}, {0, 5, 16, 35, 74, 100}},
    {{0, 0, 51, 99, 100, 100}, {0, 2, 50, 97, 100, 100}, {0, 9, 34, 71, 99.6, 100}}};

// The step lengths of a capture, in ns.
std::vector<std::int64_t> make_steps(std::mt19937_64& random, double noise, double change) {
  constexpr int kSteps = 20;
  constexpr double kStepNs = 1e6;
  constexpr double kStepNoise = 0.015;
  constexpr double kRho = 0.5;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double capture = std::exp(noise * normal(random)) * (1 + change);
  const double drift = 0.003 * normal(random);
  double wander = normal(random);
  std::vector<std::int64_t> steps;
  for (int i = 0; i < kSteps; ++i) {
    wander = kRho * wander + std::sqrt(1 - kRho * kRho) * normal(random);
    double step = std::exp(kStepNoise * wander) * (1 + drift * (i / (kSteps - 1.0) - 0.5));
    if (uniform(random) < 0.01) step += 0.28 + 1.12 * uniform(random);
    if (i == 0) step *= 2;
    steps.push_back(std::llround(kStepNs * capture * step));
  }
  return steps;
}

std::string microseconds(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

void write_trace(const std::string& path, const std::vector<std::int64_t>& steps) {
  std::string text = "{\"distributedInfo\":{\"rank\":0,\"world_size\":1},\"traceEvents\":[";
  std::int64_t at_ns = 1'000'000'000;
  int number = 0;
  const auto event = [&](std::string_view category, const std::string& name, std::int64_t tid,
                         std::int64_t start_ns, std::int64_t ns, const std::string& args) {
    text += fmt::format(
        "{}{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}"
        ","
        "\"args\":{{{}}}}}",
        text.back() == '[' ? "" : ",\n", category, name, category == "kernel" ? 0 : 1, tid,
        microseconds(start_ns), microseconds(ns), args);
  };
  for (const std::int64_t ns : steps) {
    event("user_annotation", fmt::format("ProfilerStep#{}", ++number), 1, at_ns, ns, "");
    event("cpu_op", "aten::mm", 1, at_ns + 1000, 10'000, "");
    event("cuda_runtime", "cudaLaunchKernel", 1, at_ns + 2000, 5000,
          fmt::format("\"correlation\":{}", number));
    event("kernel", "gemm", 7, at_ns + 20'000, ns * 9 / 10,
          fmt::format("\"device\":0,\"stream\":7,\"correlation\":{}", number));
    at_ns += ns;
  }
  std::ofstream(path) << text << "]}\n";
}

// The captures of one noise and change; each is made and read by itself, so that the result does
// not depend on the number of threads.
std::vector<Capture> make_captures(std::size_t count, double noise, double change,
                                   std::uint64_t seed, bool are_numbers) {
  std::vector<Capture> captures(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/rank0.json";
    for (std::size_t i = next++; i < count; i = next++) {
      std::seed_seq seeds{seed, static_cast<std::uint64_t>(i)};
      std::mt19937_64 random(seeds);
      const std::vector<std::int64_t> steps = make_steps(random, noise, change);
      if (are_numbers) {
        captures[i].steps_ns = steps;
        captures[i].value_ns = capture_value(steps);
        continue;
      }
      write_trace(path, steps);
      const Run run =
          read_run({.inputs = expand_inputs({path}), .shapes = true, .python = true, .threads = 1});
      captures[i] = make_capture(run, path);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return captures;
}

struct Counts {
  std::size_t pairs = 0;
  std::size_t regression = 0;
  std::size_t inconclusive = 0;

  double rate() const { return static_cast<double>(regression) / static_cast<double>(pairs); }
};

Counts judge_pairs(const std::vector<Capture>& base, const std::vector<Capture>& changed,
                   std::size_t captures) {
  Counts counts;
  const auto part = [&](const std::vector<Capture>& of, std::size_t from) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector<Capture>(begin, begin + static_cast<std::ptrdiff_t>(captures));
  };
  for (std::size_t from = 0; from + captures <= base.size(); from += captures) {
    const ChangeKind kind = compare({part(base, from), part(changed, from)}, {}).kind;
    ++counts.pairs;
    counts.regression += kind == ChangeKind::regression ? 1 : 0;
    counts.inconclusive += kind == ChangeKind::inconclusive ? 1 : 0;
  }
  return counts;
}

// The most that a promise lost or gained by rounding: it has whole percents, but 99.6.
double rounding_of(double promised) {
  return std::abs(promised * 100 - std::round(promised * 100)) < 1e-6 ? 0.005 : 0.0005;
}

// True if the rate may be as high as promised: Newcombe's interval of the difference of two rates.
bool reaches(double rate, const Interval& bounds, double promised) {
  const double lower = wilson(promised, kPromisedPairs, kJudged).lower;
  const double error = std::hypot(bounds.upper - rate, promised - lower);
  return rate + error >= promised - rounding_of(promised);
}

// Prints one cell; returns false if it misses what was promised.
bool print_cell(std::size_t k, std::size_t noise, std::size_t change, const Counts& counts) {
  const auto pairs = static_cast<double>(counts.pairs);
  const Interval bounds = wilson(counts.rate(), pairs, kPrinted);
  const Interval wide = wilson(counts.rate(), pairs, kJudged);
  const double promised = kPromised[k][noise][change] / 100;
  const bool is_alarm = kChanges[change] == 0;
  const bool holds =
      is_alarm ? wide.lower <= kMostFalseAlarms : reaches(counts.rate(), wide, promised);
  fmt::print(
      "| {:.1f} % | {:2} | {} | {:5} | {:5.1f} % | {:.1f}-{:.1f} % | {:5.1f} % | {} | {} |\n",
      100 * kNoises[noise], kCaptures[k],
      is_alarm ? "none " : fmt::format("{:+4.0f} %", 100 * kChanges[change]), counts.pairs,
      100 * counts.rate(), 100 * bounds.lower, 100 * bounds.upper,
      100 * static_cast<double>(counts.inconclusive) / static_cast<double>(counts.pairs),
      is_alarm ? "at most 1 %" : fmt::format("{:.4g} %", 100 * promised), holds ? "yes" : "NO");
  return holds;
}

bool run(std::size_t pairs, bool are_numbers) {
  fmt::print(
      "| noise | captures a side | change | pairs | REGRESSION | 95 % interval | INCONCLUSIVE "
      "| promised | met |\n|--:|--:|--:|--:|--:|--:|--:|--:|:--|\n");
  const std::size_t count = pairs * kCaptures.back();
  bool holds = true;
  for (std::size_t noise = 0; noise < kNoises.size(); ++noise) {
    for (std::size_t change = 0; change < kChanges.size(); ++change) {
      const std::vector<Capture> base =
          make_captures(count, kNoises[noise], 0, 100 + 10 * noise + change, are_numbers);
      const std::vector<Capture> changed = make_captures(count, kNoises[noise], kChanges[change],
                                                         1000 + 10 * noise + change, are_numbers);
      // As many pairs in each cell: the first captures serve the cells of few captures.
      for (std::size_t k = 0; k < kCaptures.size(); ++k) {
        const auto used = static_cast<std::ptrdiff_t>(pairs * kCaptures[k]);
        const std::vector<Capture> some(base.begin(), base.begin() + used);
        const std::vector<Capture> others(changed.begin(), changed.begin() + used);
        holds &= print_cell(k, noise, change, judge_pairs(some, others, kCaptures[k]));
      }
    }
  }
  return holds;
}

}  // namespace
}  // namespace traceloom::bench

int main(int argc, char** argv) {
  CLI::App app("How often compare cries wolf, and what it finds");
  std::size_t pairs = 1000;
  app.add_option("--pairs", pairs, "Pairs of sides a cell")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  bool are_numbers = false;
  app.add_flag("--numbers", are_numbers, "Judge step times without writing and reading traces");
  bool only_settings = false;
  app.add_flag("--settings", only_settings, "The second table alone");
  CLI11_PARSE(app, argc, argv);
  try {
    const bool holds = only_settings || traceloom::bench::run(pairs, are_numbers);
    return traceloom::bench::run_settings(pairs) && holds ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_bench: {}\n", error.what());
    return 2;
  }
}
