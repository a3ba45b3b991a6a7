#include "compare_settings.h"

#include "comparison/judge_sides.h"
#include "rates.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::bench {
namespace {

constexpr double kStepNs = 1e6;
constexpr double kStepNoise = 0.015;

// Draws what is random of one setting; its seed is the setting's number, so that settings do not
// depend on each other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  double normal() { return normal_(random_); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution(from, to)(random_);
  }
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  // Returns a factor whose logarithm has this standard deviation.
  double factor(double deviation) { return std::exp(deviation * normal()); }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

// Settings are numbered in the order in which they are simulated.
class Table {
 public:
  explicit Table(std::size_t pairs) : pairs_(pairs) { print_rates_header(); }

  std::size_t pairs() const { return pairs_; }
  Draw next() { return Draw(++seed_); }
  void row(std::string setting, std::string what, const Hits& found, Promise promised) {
    holds_ &= print_rate({std::move(setting), std::move(what), found, promised});
  }
  bool holds() const { return holds_; }

 private:
  std::size_t pairs_;
  std::uint64_t seed_ = 0;
  bool holds_ = true;
};

Capture capture_of(const std::vector<double>& steps) {
  Capture capture;
  for (const double step : steps) capture.steps_ns.push_back(std::llround(kStepNs * step));
  capture.value_ns = capture_value(capture.steps_ns);
  return capture;
}

template <typename Make>
std::vector<Capture> captures_of(std::size_t count, Make make) {
  std::vector<Capture> captures;
  for (std::size_t i = 0; i < count; ++i) captures.push_back(make());
  return captures;
}

struct Answers {
  Hits regression;
  Hits ok;
  Hits inconclusive;
  Hits vetoed;

  void add(const Judgement& found) {
    regression.add(found.kind == ChangeKind::regression);
    ok.add(found.kind == ChangeKind::ok || found.kind == ChangeKind::improvement);
    inconclusive.add(found.kind == ChangeKind::inconclusive);
    vetoed.add(found.is_vetoed);
  }
};

template <typename Base, typename Changed>
Answers judge_captures(std::size_t pairs, std::size_t captures, Base base, Changed changed) {
  Answers answers;
  for (std::size_t pair = 0; pair < pairs; ++pair)
    answers.add(*judge_sides({captures_of(captures, base), captures_of(captures, changed)}, {}, {})
                     .judgement);
  return answers;
}

// An optimizer runs in every `period`-th step, which takes `more` longer.
struct Periodic {
  std::size_t steps;
  std::size_t period;
  double more;
  bool any_phase;  // another one in each capture
  bool is_known;   // what ran in steps
  double noise = 0.005;
};

Capture periodic(Draw& draw, const Periodic& model) {
  const std::size_t phase = model.any_phase ? draw.below(model.period) : 0;
  const double own = draw.factor(model.noise);
  std::vector<double> steps;
  StepContents contents{{{"gemm"}, {"adam", "gemm"}}, {}};
  for (std::size_t i = 0; i < model.steps; ++i) {
    const bool has_adam = (i + phase) % model.period == model.period - 1;
    steps.push_back(own * draw.factor(kStepNoise) * (has_adam ? 1 + model.more : 1));
    contents.of_step.push_back(has_adam ? 1 : 0);
  }
  Capture capture = capture_of(steps);
  if (model.is_known) capture.contents = std::move(contents);
  return capture;
}

void simulate_kinds(Table& table) {
  struct Row {
    std::size_t period;
    double times;  // the optimizer takes so many times as long
    const char* change;
    std::array<double, 3> unknown;  // REGRESSION, OK, INCONCLUSIVE in percent
    std::array<double, 3> known;
  };
  const std::array<Row, 6> rows{{{4, 1, "+0 %", {0, 100, 0}, {0, 100, 0}},
                                 {5, 1, "+0 %", {0, 100, 0}, {0, 100, 0}},
                                 {8, 1, "+0 %", {0, 100, 0}, {0, 100, 0}},
                                 {5, 1.24, "+2.2 %", {0, 100, 0}, {52, 48, 0}},
                                 {5, 3, "+18.2 %", {0, 0, 100}, {100, 0, 0}},
                                 {8, 3, "+11.8 %", {0, 0, 100}, {100, 0, 0}}}};
  for (const Row& row : rows)
    for (const bool is_known : {false, true}) {
      Draw draw = table.next();
      const Periodic base{21, row.period, 0.5, false, is_known};
      Periodic changed = base;
      changed.more *= row.times;
      const Answers found = judge_captures(
          table.pairs(), 3, [&] { return periodic(draw, base); },
          [&] { return periodic(draw, changed); });
      const std::string setting =
          fmt::format("optimizer in every {}th step, {}, kinds {}", row.period, row.change,
                      is_known ? "known" : "not known");
      const std::array<double, 3>& promised = is_known ? row.known : row.unknown;
      table.row(setting, "REGRESSION", found.regression, {promised[0]});
      table.row(setting, "OK", found.ok, {promised[1]});
      table.row(setting, "INCONCLUSIVE", found.inconclusive, {promised[2]});
    }
}

Capture warming_up(Draw& draw, std::size_t count) {
  const double own = draw.factor(0.003);
  const double tau = draw.uniform(1, 15);
  const double most = draw.uniform(0, 0.15);
  std::vector<double> steps;
  for (std::size_t i = 0; i < count; ++i)
    steps.push_back(own * (1 + most * std::exp(-static_cast<double>(i) / tau)) * draw.factor(0.01));
  return capture_of(steps);
}

void simulate_lengths(Table& table) {
  struct Phase {
    bool any;
    bool is_known;
    double alarms;
    double ok;
  };
  for (const Phase& row : {Phase{false, false, 0, 100}, Phase{false, true, 0, 100},
                           Phase{true, false, 1.7, 28}, Phase{true, true, 0, 100}}) {
    Draw draw = table.next();
    const Periodic base{11, 4, 0.5, row.any, row.is_known, 0.003};
    Periodic changed = base;
    changed.steps = 13;
    const Answers found = judge_captures(
        table.pairs(), 3, [&] { return periodic(draw, base); },
        [&] { return periodic(draw, changed); });
    const std::string setting =
        fmt::format("optimizer in every 4th step{}, 11 and 13 steps, kinds {}",
                    row.any ? ", any phase" : "", row.is_known ? "known" : "not known");
    table.row(setting, "false REGRESSION", found.regression, {row.alarms, true});
    table.row(setting, "OK", found.ok, {row.ok});
  }
  struct Lengths {
    std::size_t base;
    std::size_t changed;
    std::size_t captures;
    double alarms;
    double ok;
  };
  for (const Lengths& row :
       {Lengths{41, 13, 3, 1.4, 64}, Lengths{41, 13, 5, 1.1, 91}, Lengths{41, 9, 5, 0.9, 82},
        Lengths{101, 21, 3, 0.8, 84}, Lengths{101, 21, 5, 0.8, 99}}) {
    Draw draw = table.next();
    const Answers found = judge_captures(
        table.pairs(), row.captures, [&] { return warming_up(draw, row.base); },
        [&] { return warming_up(draw, row.changed); });
    const std::string setting =
        fmt::format("warm-up, {} and {} steps, {} captures", row.base, row.changed, row.captures);
    table.row(setting, "false REGRESSION", found.regression, {row.alarms, true});
    table.row(setting, "OK", found.ok, {row.ok});
  }
}

// Steps of which some stall; with `clustered`, captures have other chances of that.
Capture stalling(Draw& draw, double chance, double clustered = 0) {
  chance = std::min(1.0, chance * std::exp(clustered * draw.normal() - clustered * clustered / 2));
  const double own = draw.factor(0.01);
  std::vector<double> steps;
  for (std::size_t i = 0; i < 21; ++i)
    steps.push_back(own * (draw.factor(kStepNoise) +
                           (draw.uniform(0, 1) < chance ? draw.uniform(0.28, 1.4) : 0)));
  return capture_of(steps);
}

void simulate_stalls(Table& table) {
  struct Row {
    double chance;
    std::size_t captures;
    double lost;  // OK that was vetoed though nothing changed
    double left;  // OK with 8 times as many stalls
  };
  for (const Row& row : {Row{0.01, 5, 0.1, 47}, Row{0.05, 3, 3, 0}})
    for (const double times : {1.0, 8.0}) {
      Draw draw = table.next();
      const Answers found = judge_captures(
          table.pairs(), row.captures, [&] { return stalling(draw, row.chance); },
          [&] { return stalling(draw, times * row.chance); });
      const std::string setting =
          fmt::format("stalls in {:.0f} % of steps, {} captures", 100 * row.chance, row.captures);
      if (times == 1)
        table.row(setting, "OK lost without a change", found.vetoed, {row.lost, true});
      else
        table.row(setting, "OK with 8 times the stalls", found.ok, {row.left, true});
    }
}

void simulate_slow_steps(Table& table) {
  struct Row {
    double chance;
    double clustered;
    std::size_t captures;
    double alarms;
    double found;
  };
  const MetricGate gate = read_metric_gate("--gate", "step.slow<=+2%");
  for (const Row& row :
       {Row{0.01, 0, 3, 0, 3}, Row{0.01, 0, 5, 0, 20}, Row{0.01, 0, 10, 0, 66},
        Row{0.05, 0, 3, 0.1, 60}, Row{0.05, 0, 5, 0.2, 88}, Row{0.05, 0, 10, 0.4, 100},
        Row{0.05, 1, 3, 0.1, 8}, Row{0.05, 1, 5, 0.2, 11}, Row{0.05, 1, 10, 0.4, 38}})
    for (const double times : {1.0, 8.0}) {
      Draw draw = table.next();
      Hits found;
      for (std::size_t pair = 0; pair < table.pairs(); ++pair) {
        const ComparedSides sides{
            captures_of(row.captures, [&] { return stalling(draw, row.chance, row.clustered); }),
            captures_of(row.captures,
                        [&] { return stalling(draw, times * row.chance, row.clustered); })};
        found.add(judge_sides(sides, {}, {gate}).gates[0].kind == ChangeKind::regression);
      }
      const std::string setting =
          fmt::format("step.slow<=+2%, stalls in {:.0f} %{}, {} captures", 100 * row.chance,
                      row.clustered > 0 ? " in clusters" : "", row.captures);
      if (times == 1)
        table.row(setting, "false REGRESSION", found, {row.alarms, true});
      else
        table.row(setting, "8 times the stalls found", found, {row.found});
    }
}

// Numbers of captures that differ by `noise`, and by what is left of their steps.
std::vector<double> numbers(Draw& draw, std::size_t count, double noise, double change = 0) {
  constexpr double kOfSteps = 0.004;
  std::vector<double> found;
  for (std::size_t i = 0; i < count; ++i)
    found.push_back((1 + change) * draw.factor(noise) * draw.factor(kOfSteps));
  return found;
}

void simulate_noise(Table& table) {
  struct Row {
    double base_noise;
    double changed_noise;
    std::size_t base;
    std::size_t changed;
    double alarms;
    double found;
  };
  for (const Row& row : {Row{0.005, 0.02, 3, 3, 1.1, 65}, Row{0.005, 0.02, 20, 3, 1.4, 39},
                         Row{0.005, 0.02, 20, 1, 15.6, 93}, Row{0.01, 0.01, 20, 3, 0.1, 96}})
    for (const double change : {0.0, 0.05}) {
      Draw draw = table.next();
      Hits found;
      for (std::size_t pair = 0; pair < table.pairs(); ++pair) {
        const std::vector<double> base = numbers(draw, row.base, row.base_noise);
        const std::vector<double> changed = numbers(draw, row.changed, row.changed_noise, change);
        found.add(judge({.base = base, .changed = changed}, {}).kind == ChangeKind::regression);
      }
      const std::string setting =
          fmt::format("noise {:.1f} and {:.1f} %, {} and {} captures", 100 * row.base_noise,
                      100 * row.changed_noise, row.base, row.changed);
      if (change == 0)
        table.row(setting, "false REGRESSION", found, {row.alarms, true});
      else
        table.row(setting, "+5 % found", found, {row.found});
    }
}

// Asks whether a change of what a pair of sides told is found by the next pair.
void simulate_detectable(Table& table) {
  for (const std::size_t captures : {2, 3, 5, 10}) {
    Draw draw = table.next();
    Hits found;
    for (std::size_t pair = 0; pair < table.pairs(); ++pair) {
      const auto judged = [&](double change) {
        const std::vector<double> base = numbers(draw, captures, 0.02);
        const std::vector<double> changed = numbers(draw, captures, 0.02, change);
        return judge({.base = base, .changed = changed}, {});
      };
      const double told = *judged(0).bounds->detectable;
      found.add(judged(told).kind == ChangeKind::regression);
    }
    table.row(fmt::format("noise 2 %, {} captures", captures), "a change of what was told, found",
              found, {90});
  }
}

// 20 calls a step, which vary by 1.4 from step to step, and 12 middle steps a capture.
void simulate_calls(Table& table) {
  const auto calls = [](Draw& draw, double change) {
    std::vector<double> found;
    for (int i = 0; i < 3; ++i)
      found.push_back(20 * (1 + change) + 1.41 * draw.normal() / std::sqrt(12));
    return found;
  };
  struct Row {
    double bound;
    double change;
    Promise promised;
  };
  for (const Row& row : {Row{0, 0, {1.2, true}}, Row{0.01, 0, {1.2, true}}, Row{0.01, 0.1, {93}}}) {
    Draw draw = table.next();
    Hits found;
    const JudgeOptions options{.floor = row.bound, .limit = std::numeric_limits<double>::max()};
    for (std::size_t pair = 0; pair < table.pairs(); ++pair) {
      const std::vector<double> base = calls(draw, 0);
      const std::vector<double> changed = calls(draw, row.change);
      found.add(judge({.base = base, .changed = changed}, options).kind == ChangeKind::regression);
    }
    table.row(fmt::format("calls<=+{:.0f}%, 20 +- 1.4 calls, 3 captures", 100 * row.bound),
              row.change > 0 ? "+10 % found" : "false REGRESSION", found, row.promised);
  }
}

// A store that grows by a run at a time: each that is no regression joins.
class Store {
 public:
  explicit Store(double within = 0.005) : within_(within) {}

  // Draws a run of three captures, `level` being the logarithm of its time.
  std::vector<double> run(Draw& draw, double level, double between) const {
    level += between * draw.normal();
    std::vector<double> captures;
    for (int i = 0; i < 3; ++i) captures.push_back(std::exp(level) * draw.factor(within_));
    return captures;
  }
  Judgement judge_run(const std::vector<double>& captures) const {
    return judge({.base = newest_runs(runs_), .changed = captures, .runs = runs_}, {});
  }
  void add(std::vector<double> captures) {
    runs_.push_back(std::move(captures));
    if (runs_.size() > kFirstRuns + kNewestRuns) runs_.erase(runs_.begin() + kFirstRuns);
  }
  // Judges a run, which joins; the first one is not judged.
  std::optional<Judgement> take(std::vector<double> captures) {
    if (runs_.empty()) {
      add(std::move(captures));
      return std::nullopt;
    }
    Judgement found = judge_run(captures);
    if (found.kind != ChangeKind::regression) add(std::move(captures));
    return found;
  }

 private:
  double within_;
  std::vector<std::vector<double>> runs_;
};

// A store is 40 judgements, so there are fewer of them.
std::size_t stores_of(const Table& table) {
  return std::max<std::size_t>(1, table.pairs() * 3 / 10);
}

std::string store_name(double between) {
  return fmt::format("store, {:.1f} % between runs", 100 * between);
}

// Runs of one store share its history, so that the intervals of these rates are a bit too narrow.
void simulate_stores(Table& table) {
  struct Row {
    double between;
    double alarms;
    double drifts;
    double ok;
  };
  for (const Row& row : {Row{0, 0, 0, 100}, Row{0.005, 0.1, 0, 100}, Row{0.01, 0.4, 0.1, 99},
                         Row{0.02, 1.8, 0.5, 78}}) {
    Draw draw = table.next();
    Answers answers;
    Hits drifts;
    for (std::size_t i = 0; i < stores_of(table); ++i) {
      Store store;
      for (int run = 0; run < 40; ++run)
        if (const auto found = store.take(store.run(draw, 0, row.between))) {
          answers.add(*found);
          drifts.add(found->is_drift);
        }
    }
    const Promise alarms{row.alarms, true, 300};
    table.row(store_name(row.between), "false REGRESSION of a run", answers.regression, alarms);
    table.row(store_name(row.between), "of which drift", drifts, {row.drifts, true, 300});
    table.row(store_name(row.between), "OK", answers.ok, {row.ok, false, 300});
  }
}

void simulate_jumps(Table& table) {
  struct Row {
    double between;
    double at_once;
    double within_five;
  };
  for (const Row& row : {Row{0.005, 100, 100}, Row{0.01, 93, 100}, Row{0.02, 42, 88}}) {
    Draw draw = table.next();
    Hits at_once;
    Hits within_five;
    for (std::size_t i = 0; i < table.pairs(); ++i) {
      Store store;
      std::optional<int> first;
      for (int run = 0; run < 20 && !first; ++run) {
        const double level = run < 15 ? 0 : std::log1p(0.05);
        const auto found = store.take(store.run(draw, level, row.between));
        if (found && found->kind == ChangeKind::regression && run >= 15) first = run;
      }
      at_once.add(first == 15);
      within_five.add(first.has_value());
    }
    table.row(store_name(row.between), "a jump of +5 % found at once", at_once,
              {row.at_once, false, 400});
    table.row(store_name(row.between), "a jump of +5 % found in 5 runs", within_five,
              {row.within_five, false, 400});
  }
}

void simulate_found(Table& table) {
  struct Row {
    double between;
    std::array<double, 4> changes;
  };
  constexpr std::array<std::size_t, 4> kRuns{1, 3, 7, 20};
  for (const Row& row :
       {Row{0.005, {0.078, 0.051, 0.038, 0.029}}, Row{0.01, {0.088, 0.064, 0.054, 0.046}},
        Row{0.02, {0.107, 0.099, 0.092, 0.086}}})
    for (std::size_t i = 0; i < kRuns.size(); ++i) {
      Draw draw = table.next();
      Hits found;
      for (std::size_t pair = 0; pair < table.pairs(); ++pair) {
        Store store;
        for (std::size_t run = 0; run < kRuns[i]; ++run) store.add(store.run(draw, 0, row.between));
        const std::vector<double> captures =
            store.run(draw, std::log1p(row.changes[i]), row.between);
        const Judgement judged = store.judge_run(captures);
        found.add(judged.kind == ChangeKind::regression && !judged.is_drift);
      }
      table.row(fmt::format("{}, {} run{}", store_name(row.between), kRuns[i], i == 0 ? "" : "s"),
                fmt::format("{:+.1f} % found", 100 * row.changes[i]), found, {90, false, 20000});
    }
}

void simulate_creeps(Table& table) {
  struct Row {
    double between;
    double creep;
    double alarms;
  };
  for (const Row& row :
       {Row{0.003, 0.0025, 100}, Row{0.003, 0.005, 100}, Row{0.003, 0.01, 100}, Row{0.01, 0, 22}}) {
    Draw draw = table.next();
    Hits alarmed;
    std::vector<double> levels;
    for (std::size_t i = 0; i < stores_of(table); ++i) {
      Store store;
      std::optional<double> first;
      for (int run = 0; run < 60 && !first; ++run) {
        const double level = run * std::log1p(row.creep);
        const auto found = store.take(store.run(draw, level, row.between));
        if (found && found->kind == ChangeKind::regression) first = level;
      }
      alarmed.add(first.has_value());
      if (first) levels.push_back(*first);
    }
    std::sort(levels.begin(), levels.end());
    const double middle = levels.empty() ? 0 : std::expm1(levels[levels.size() / 2]);
    table.row(fmt::format("{}, {:+.2f} % a run", store_name(row.between), 100 * row.creep),
              row.creep > 0 ? fmt::format("an alarm in 60 runs (mostly at {:+.1f} %)", 100 * middle)
                            : "a false alarm in 60 runs",
              alarmed, {row.alarms, row.creep == 0, 200});
  }
}

}  // namespace

bool run_settings(std::size_t pairs) {
  Table table(pairs);
  simulate_kinds(table);
  simulate_lengths(table);
  simulate_stalls(table);
  simulate_slow_steps(table);
  simulate_noise(table);
  simulate_detectable(table);
  simulate_calls(table);
  simulate_stores(table);
  simulate_found(table);
  simulate_jumps(table);
  simulate_creeps(table);
  return table.holds();
}

}  // namespace traceloom::bench
