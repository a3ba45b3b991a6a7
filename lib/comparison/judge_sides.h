// judge_sides: whether the step and the metrics of gates changed by more than noise.
//
//   const JudgedSides found = judge_sides({base, changed}, {}, gates);
//   if (found.step->kind == ChangeKind::regression) use(found.step->change);
//
// The step and all metrics with noise are one family (judge_family()), so that the chance of any
// false alarm stays below alpha. Calls and peaks have no noise: their means are compared.
#pragma once

#include "comparison/judge/judge.h"
#include "comparison/metric.h"

#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Captures of a second look count only if the first leaves a doubt: judge_twice(). Either both
// sides have some, or none.
struct ComparedSides {
  std::vector<Capture> base;  // at least one
  std::vector<Capture> changed;
  std::vector<std::vector<Capture>> history = {};     // each of one older version, for the noise
  std::vector<std::vector<double>> older_steps = {};  // the same of which only steps are known
  std::vector<Capture> base_again = {};
  std::vector<Capture> changed_again = {};
};

struct MetricAnswer {
  ChangeKind kind = ChangeKind::inconclusive;
  std::string why;                  // reason why it is no OK; "" for one
  std::optional<double> base = {};  // means of the captures; nullopt if none has it
  std::optional<double> changed = {};
  std::optional<Judgement> judgement = {};  // nullopt for what is compared exactly
};

struct JudgedSides {
  std::optional<Judgement> step = {};  // nullopt if a side has no capture with enough steps
  std::vector<MetricAnswer> gates;     // in the order of the gates
  int looks = 1;                       // 2: the captures of the second look count, too
};

// Captures with too few steps do not count.
JudgedSides judge_sides(const ComparedSides& sides, const JudgeOptions& options,
                        const std::vector<MetricGate>& gates);

// Returns the number as people read it: "1.200 ms", "12.5", "1.5 GiB", "5.0 %".
std::string metric_text(const MetricGate& gate, double value);

}  // namespace traceloom
