// The metrics of gates, and whether they and the step changed by more than noise.
#pragma once

#include "comparison/captures/capture.h"
#include "comparison/captures/compared_steps.h"
#include "comparison/judge/judge.h"
#include "gate/gate_term.h"
#include "select/selection.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Metric: a number of a capture that a gate compares, besides the step.
//
//   const MetricGate gate = read_metric_gate("--gate", "kernel[flash.*].time<=+10%");
//   value_of(gate.metric, capture)                        // 1203311.5: ns a step
//
// Names of metrics are "step"; the roles of events (kRoleNames), of which "loader" is another name
// for dataloader; "device" for kernels, copies and communication together; "op" and "module" for
// the same, by the operators that launched them, or by the torch modules in which they were
// launched; and "memory". A pattern is searched for in the names of events, operators or modules.
//
// A time or number of calls is the mean of a capture's middle steps, on the rank that has most of
// it: a mean over all ranks would hide what one of them does.

enum class MetricField : std::uint8_t {
  time,     // ns a step, also where other work hides it
  exposed,  // ns of the step that belong to it alone
  calls,    // number of events a step
  p50,      // ns of the steps without the first one, by nearest rank
  p99,
  max,
  slow,  // share of these steps that take 1.5 medians of their capture and more
  peak,  // bytes that the allocator gave out at most, on the device that has most of it
};
// The names stand in the order of the enum.
inline constexpr std::array<std::string_view, 8> kMetricFields{"time", "exposed", "calls", "p50",
                                                               "p99",  "max",     "slow",  "peak"};

enum class MetricOf : std::uint8_t { step, events, operators, modules, memory };

struct Metric {
  MetricOf of = MetricOf::step;
  std::vector<Role> roles = {};  // of events, operators and modules
  std::optional<NamePattern> pattern = {};
  MetricField field = MetricField::time;

  // True for what mostly has no noise: the number of calls, and a peak of memory. Such a gate fails
  // only where an increase is shown: exactly, if the number is the same in all captures of a side.
  bool is_exact() const { return field == MetricField::calls || field == MetricField::peak; }
};

// What a gate allows: a change, or the number of the new version itself.
struct MetricGate {
  std::string text;  // as written
  std::string name;  // "kernel[flash.*].time"
  Metric metric = {};
  // A change is allowed that is not above one of both.
  std::optional<double> relative = {};  // 0.1 for "+10%"
  std::optional<double> change = {};    // in the metric's unit
  // Or the number is allowed up to this.
  std::optional<double> most = {};  // in the metric's unit, or a share of the step
  bool is_share_of_step = false;
};

// True for a gate on the step itself, which takes the place of JudgeOptions::floor and limit.
inline bool is_step_gate(const MetricGate& gate) {
  return gate.metric.of == MetricOf::step && gate.metric.field == MetricField::time;
}

// Throws UsageError, which begins with `option`, for a metric that is not known and a bound that
// does not fit it.
MetricGate read_metric_gate(const std::string& option, const std::string& text);

// True if a gate needs Capture::peak_bytes.
bool needs_memory(const std::vector<MetricGate>& gates);

// Returns nullopt if the capture has no such event, or did not record it. The times of events are
// those of all its middle steps, by kind.
std::optional<double> value_of(const Metric& metric, const Capture& capture,
                               const ComparedSteps& steps = {});

// True if the capture has work of a device that was launched in a torch module.
bool names_modules(const Capture& capture);

// judge_sides: whether the step and the metrics of gates changed by more than noise.
//
//   const JudgedSides found = judge_sides({base, changed}, {}, gates);
//   if (found.judgement->kind == ChangeKind::regression) use(found.judgement->change);
//
// The step and all metrics with noise are one family (judge_family()), so that the chance of any
// false alarm stays below alpha. A gate on the step that allows a share takes the place of the
// question about the step. Numbers of calls and peaks that do not vary are compared as they are.

// Captures of a second look count only if the first leaves a doubt: judge_twice(). Either both
// sides have some, or none.
//
// Of a store (Baseline), `base` is its newest run: rows and gates on other numbers than the step
// are compared with that. The step is compared by runs (Samples::runs).
struct ComparedSides {
  std::vector<Capture> base;  // at least one
  std::vector<Capture> changed;
  std::vector<std::vector<Capture>> history = {};  // each of one older version, for the noise
  std::vector<Capture> base_again = {};
  std::vector<Capture> changed_again = {};
  std::vector<std::vector<Capture>> earlier_runs = {};  // of the base, oldest first
  bool is_by_run = false;  // each side is a run of its own day; so it is with earlier runs

  bool has_runs() const { return is_by_run || !earlier_runs.empty(); }

  // Returns the same with the captures of the second look among those of their side.
  ComparedSides with_second_look() const;
};

// True if each capture of the base is one of the new version, too. Of a store, that newest run does
// not count if there are others.
bool is_itself(const ComparedSides& sides);

struct MetricAnswer {
  ChangeKind kind = ChangeKind::inconclusive;
  std::string why;                  // reason why it is no OK; "" for one
  std::optional<double> base = {};  // means of the captures; nullopt if none has it
  std::optional<double> changed = {};
  std::optional<Judgement> judgement = {};  // nullopt for what is compared exactly
};

struct JudgedSides {
  // Of the step; nullopt if a side has no capture with enough steps.
  std::optional<Judgement> judgement = {};
  std::vector<MetricAnswer> gates;  // in the order of the gates
  int looks = 1;                    // 2: the captures of the second look count, too
  std::size_t steps_used = 0;       // of each capture, with the first: as many as the shortest has
  ComparedSteps steps = {};
  // The verdict leaves out the longest steps, however many there are, so these are counted.
  SlowSteps slow_base = {};
  SlowSteps slow_changed = {};
};

// Captures with too few steps do not count.
JudgedSides judge_sides(const ComparedSides& sides, const JudgeOptions& options,
                        const std::vector<MetricGate>& gates);

// Returns why a judgement is vetoed (Judgement::is_vetoed).
std::string veto_text(const Judgement& judgement);
// Returns what drifted (Judgement::is_drift).
std::string drift_text(const Judgement& judgement);
// Returns why a judgement of runs is inconclusive.
std::string unclear_runs_text(const Judgement& judgement);

// Returns the number as people read it: "1.200 ms", "12.5", "1.5 GiB", "5.0 %".
std::string metric_text(const MetricGate& gate, double value);

}  // namespace traceloom
