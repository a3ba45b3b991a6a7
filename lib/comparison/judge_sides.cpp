#include "comparison/judge_sides.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace traceloom {
namespace {

constexpr double kExact = 1e-9;  // relative: means of whole numbers are rounded

using Numbers = std::vector<double>;

double mean(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// The numbers of the captures that count. A metric that a capture lacks is 0 there; `is_known` says
// whether any capture has it.
Numbers numbers_of(const MetricGate& gate, const std::vector<Capture>& captures,
                   const ComparedSteps& steps, bool& is_known) {
  Numbers numbers;
  for (const Capture& capture : captures) {
    if (!capture.value_ns) continue;
    const std::optional<double> value = value_of(gate.metric, capture, steps);
    is_known |= value.has_value();
    const double step_ns = capture_value(capture, steps).value_or(*capture.value_ns);
    numbers.push_back(value.value_or(0) / (gate.is_share_of_step ? step_ns : 1));
  }
  return numbers;
}

// Appends the numbers of the captures that count, and the means of all their used steps. Steps that
// take no time are none.
void add_steps(const std::vector<Capture>& captures, const ComparedSteps& steps, Numbers& middle,
               Numbers& of_all) {
  for (const Capture& capture : captures)
    if (const auto value = capture_value(capture, steps); capture.value_ns && value) {
      middle.push_back(*value);
      of_all.push_back(mean_of_steps(capture.steps_ns, steps.count));
    }
}

void add_runs(const ComparedSides& sides, const ComparedSteps& steps, Samples& samples) {
  const auto add = [&](const std::vector<Capture>& run) {
    Numbers middle;
    Numbers of_all;
    add_steps(run, steps, middle, of_all);
    if (middle.empty()) return;
    samples.runs.push_back(std::move(middle));
    samples.runs_of_all.push_back(std::move(of_all));
  };
  for (const std::vector<Capture>& run : sides.earlier_runs) add(run);
  if (samples.runs.empty() || !is_itself(sides)) add(sides.base);
  samples.base = newest_runs(samples.runs);
  samples.base_of_all = newest_runs(samples.runs_of_all);
}

// The captures of an older version are for the noise alone: each of them is as long as it is.
Samples step_samples(const ComparedSides& sides, const ComparedSteps& steps) {
  Samples samples;
  if (sides.has_runs())
    add_runs(sides, steps, samples);
  else
    add_steps(sides.base, steps, samples.base, samples.base_of_all);
  add_steps(sides.changed, steps, samples.changed, samples.changed_of_all);
  for (const std::vector<Capture>& group : sides.history)
    samples.history.push_back(values_of(group));
  return samples;
}

// One gate with the numbers of both sides.
struct Measured {
  Samples samples = {};
  bool is_known = false;
  bool lacks_modules = false;  // the gate is on modules, and some captures name none

  bool is_whole() const {
    return is_known && !lacks_modules && !samples.base.empty() && !samples.changed.empty();
  }
};

bool lacks_modules(const std::vector<Capture>& captures) {
  return std::ranges::any_of(
      captures, [](const Capture& capture) { return capture.value_ns && !names_modules(capture); });
}

// True if a gate on modules meets a capture that names none: its number is not known, and not 0.
// Both looks are asked, so that each has the same gates.
bool lacks_modules(const MetricGate& gate, const ComparedSides& sides) {
  return gate.metric.of == MetricOf::modules &&
         (lacks_modules(sides.base) || lacks_modules(sides.changed) ||
          lacks_modules(sides.base_again) || lacks_modules(sides.changed_again));
}

Measured measure(const MetricGate& gate, const ComparedSides& sides, const ComparedSteps& steps) {
  if (is_step_gate(gate)) {
    Measured step{step_samples(sides, steps)};
    step.is_known = !step.samples.base.empty() || !step.samples.changed.empty();
    return step;
  }
  Measured found;
  found.samples.base = numbers_of(gate, sides.base, steps, found.is_known);
  found.samples.changed = numbers_of(gate, sides.changed, steps, found.is_known);
  found.lacks_modules = lacks_modules(gate, sides);
  bool ignored = false;
  for (const std::vector<Capture>& group : sides.history)
    if (gate.metric.of != MetricOf::modules || !lacks_modules(group))
      found.samples.history.push_back(numbers_of(gate, group, {}, ignored));
  return found;
}

// Returns the increase that is allowed, in the unit of the metric.
double allowed_change(const MetricGate& gate, double base) {
  return std::max(gate.relative.value_or(0) * base, gate.change.value_or(0));
}

bool all_positive(const Samples& samples) {
  const auto is_positive = [](double number) { return number > 0; };
  bool all = std::all_of(samples.base.begin(), samples.base.end(), is_positive) &&
             std::all_of(samples.changed.begin(), samples.changed.end(), is_positive);
  for (const Numbers& group : samples.history) all = all && std::ranges::all_of(group, is_positive);
  return all;
}

Question question_with_bound(const MetricGate& gate, const Measured& measured,
                             const JudgeOptions& options) {
  Question question{measured.samples, options};
  JudgeOptions& own = question.options;
  if (gate.most) {
    // The base is the limit; the noise of its captures still counts.
    // A limit is compared with captures, so of a store their noise within runs counts.
    std::vector<Numbers>& runs = question.samples.runs;
    if (runs.empty()) runs.push_back(std::move(question.samples.base));
    std::ranges::move(std::exchange(runs, {}), std::back_inserter(question.samples.history));
    question.samples.base = {*gate.most};
    question.samples.base_is_exact = true;
    question.samples.base_of_all.clear();
    own.floor = own.limit = 0;
    own.scale = ChangeScale::units;
    if (own.noise) own.noise = *own.noise * mean(question.samples.changed);
    return question;
  }
  const double base = mean(measured.samples.base);
  const double allowed = allowed_change(gate, base);
  if (all_positive(measured.samples)) {
    own.floor = own.limit = allowed / base;
    return question;
  }
  own.scale = ChangeScale::units;
  own.floor = own.limit = allowed;
  if (own.noise) own.noise = *own.noise * std::max(base, mean(measured.samples.changed));
  return question;
}

Question question_of(const MetricGate& gate, const Measured& measured,
                     const JudgeOptions& options) {
  Question question = question_with_bound(gate, measured, options);
  // A gate on what is usually exact fails where an increase is shown, and passes otherwise.
  if (gate.metric.is_exact()) question.options.limit = std::numeric_limits<double>::max();
  return question;
}

bool varies(const Numbers& numbers) {
  return std::ranges::any_of(numbers, [&](double one) { return one != numbers.front(); });
}

bool is_judged(const MetricGate& gate, const Measured& measured) {
  if (!measured.is_whole() || gate.metric.field == MetricField::slow) return false;
  return !gate.metric.is_exact() || varies(measured.samples.base) ||
         varies(measured.samples.changed);
}

// True for a gate that takes the place of the question about the step.
bool replaces_step(const MetricGate& gate) {
  return is_step_gate(gate) && gate.relative;
}

std::string change_text(double base, double changed) {
  return base > 0 ? fmt::format(", {:+.1f} %", 100 * (changed / base - 1)) : "";
}

std::string allowed_text(const MetricGate& gate, double base) {
  if (gate.most) return metric_text(gate, *gate.most);
  const double allowed = allowed_change(gate, base);
  return gate.relative && *gate.relative * base >= allowed
             ? fmt::format("+{:.3g} %", 100 * *gate.relative)
             : "+" + metric_text(gate, allowed);
}

std::string exceeds_text(const MetricGate& gate, const MetricAnswer& found) {
  const std::string changed = metric_text(gate, *found.changed);
  if (found.judgement && found.judgement->is_drift)
    return fmt::format("{}: {}", gate.name, drift_text(*found.judgement));
  if (gate.most)
    return fmt::format("{} is {}, more than {}", gate.name, changed, allowed_text(gate, 0));
  return fmt::format("{} went from {} to {}{}, more than {}", gate.name,
                     metric_text(gate, *found.base), changed,
                     change_text(*found.base, *found.changed), allowed_text(gate, *found.base));
}

std::string signed_change(const MetricGate& gate, const Judgement& judgement, double change) {
  if (judgement.scale == ChangeScale::relative) return fmt::format("{:+.1f} %", 100 * change);
  return (change < 0 ? "" : "+") + metric_text(gate, change);
}

std::string unclear_text(const MetricGate& gate, const MetricAnswer& found,
                         const JudgeOptions& options) {
  const Judgement& judgement = *found.judgement;
  if (judgement.is_vetoed) return fmt::format("{}: {}", gate.name, veto_text(judgement));
  if (judgement.runs > 0) return fmt::format("{}: {}", gate.name, unclear_runs_text(judgement));
  if (!judgement.bounds)
    return fmt::format(
        "{}: one capture a side does not show the noise between captures: take at "
        "least 3 a side",
        gate.name);
  const ChangeBounds& bounds = *judgement.bounds;
  const std::string enough =
      judgement.captures_needed
          ? fmt::format("{} captures a side should be enough", *judgement.captures_needed)
          : "even 199 captures a side would not decide";
  if (gate.most)
    return fmt::format("{} may be up to {} ({:.3g} % confidence), more than {}: {}", gate.name,
                       metric_text(gate, *gate.most + bounds.upper), 100 * options.ok_level,
                       allowed_text(gate, 0), enough);
  const double base = *found.base;
  return fmt::format("{} may have changed by {} ({:.3g} % confidence), more than {}: {}", gate.name,
                     signed_change(gate, judgement, bounds.upper), 100 * options.ok_level,
                     allowed_text(gate, base), enough);
}

// What is compared exactly has no judgement.
MetricAnswer answer_of(const MetricGate& gate, const Measured& measured,
                       const std::optional<Judgement>& judgement, const JudgeOptions& options) {
  MetricAnswer found;
  found.base = mean(measured.samples.base);
  found.changed = mean(measured.samples.changed);
  found.judgement = judgement;
  if (judgement && judgement->runs > 0) {  // geometric means, which differ where runs do
    found.base = judgement->base;
    found.changed = judgement->changed;
  }
  const double most = gate.most ? *gate.most : *found.base + allowed_change(gate, *found.base);
  if (judgement)
    found.kind = judgement->kind;
  else
    found.kind = *found.changed > most * (1 + kExact) ? ChangeKind::regression : ChangeKind::ok;
  if (gate.most && found.kind == ChangeKind::improvement) found.kind = ChangeKind::ok;
  // Holm may have made a shown increase one that is not.
  if (gate.metric.is_exact() && found.kind == ChangeKind::inconclusive) found.kind = ChangeKind::ok;
  // What no capture has more of than allowed needs no noise: a wait that is 0 everywhere.
  if (judgement && std::ranges::max(measured.samples.changed) == 0 && most >= 0)
    found.kind = ChangeKind::ok;
  if (found.kind == ChangeKind::regression) found.why = exceeds_text(gate, found);
  if (found.kind == ChangeKind::inconclusive) found.why = unclear_text(gate, found, options);
  return found;
}

MetricAnswer unknown_answer(const MetricGate& gate, const Measured& measured) {
  MetricAnswer found;
  if (measured.is_known && measured.lacks_modules)
    found.why = gate.name +
                ": some captures name no torch modules; record all of them with with_stack=True, "
                "and make older baselines again";
  else if (measured.is_known)
    found.why = gate.name + ": a side has no capture with enough steps";
  else if (gate.metric.of == MetricOf::memory)
    found.why = gate.name + ": no capture has it; record with profile_memory";
  else if (gate.metric.of == MetricOf::modules)
    found.why = gate.name + ": no capture has work of a device that was launched in such a module";
  else
    found.why = gate.name + ": no middle step of any capture has such an event";
  return found;
}

SlowSteps find_slow_steps(const std::vector<Capture>& captures, const ComparedSteps& steps) {
  SlowSteps found;
  for (const Capture& capture : captures)
    if (capture.value_ns)
      found.add(count_slow_steps(capture, steps), used_steps(capture.steps_ns, steps.count).size());
  return found;
}

// Each of two looks has half of alpha.
MetricAnswer slow_answer(const MetricGate& gate, const JudgedSides& judged, bool has_two_looks,
                         const JudgeOptions& options) {
  const SlowSteps& base = judged.slow_base;
  const SlowSteps& changed = judged.slow_changed;
  MetricAnswer found{ChangeKind::ok, "", base.share(), changed.share()};
  if (changed.share() - base.share() > *gate.change &&
      has_more_slow_steps(base, changed, options.alpha / (has_two_looks ? 2 : 1))) {
    found.kind = ChangeKind::regression;
    found.why = exceeds_text(gate, found);
  }
  return found;
}

// The step comes first if both sides have its numbers and no gate takes its place, then the gates
// with noise.
std::vector<Question> questions_of(const ComparedSides& sides, const ComparedSteps& steps,
                                   const JudgeOptions& options,
                                   const std::vector<MetricGate>& gates) {
  const Samples samples = step_samples(sides, steps);
  if (samples.base.empty() || samples.changed.empty()) return {};
  std::vector<Question> questions;
  if (std::ranges::none_of(gates, replaces_step)) questions.push_back({samples, options});
  for (const MetricGate& gate : gates) {
    const Measured measured = measure(gate, sides, steps);
    if (is_judged(gate, measured)) questions.push_back(question_of(gate, measured, options));
  }
  return questions;
}

}  // namespace

bool is_itself(const ComparedSides& sides) {
  return std::ranges::all_of(sides.base, [&](const Capture& some) {
    return std::ranges::any_of(sides.changed, [&](const Capture& other) {
      return are_of_one_capture(some.steps_ns, other.steps_ns) && ranks_in(some) == ranks_in(other);
    });
  });
}

ComparedSides ComparedSides::with_second_look() const {
  ComparedSides all = *this;
  all.base.insert(all.base.end(), base_again.begin(), base_again.end());
  all.changed.insert(all.changed.end(), changed_again.begin(), changed_again.end());
  return all;
}

JudgedSides judge_sides(const ComparedSides& sides, const JudgeOptions& options,
                        const std::vector<MetricGate>& gates) {
  JudgedSides found;
  found.steps = ComparedSteps(sides.base, sides.changed, sides.earlier_runs);
  const ComparedSides* counted = &sides;
  ComparedSides all;
  std::vector<Question> questions = questions_of(sides, found.steps, options, gates);
  std::vector<Judgement> judgements;
  if (sides.base_again.empty()) {
    judgements = judge_family(questions);
  } else {
    all = sides.with_second_look();
    ComparedSteps steps(all.base, all.changed, all.earlier_runs);
    SecondLook look = judge_twice(questions, questions_of(all, steps, options, gates));
    judgements = std::move(look.judgements);
    found.looks = look.looks;
    if (look.looks == 2) {
      counted = &all;
      found.steps = std::move(steps);
    }
  }
  if (!questions.empty()) found.steps_used = found.steps.count;
  found.slow_base = find_slow_steps(counted->base, found.steps);
  found.slow_changed = find_slow_steps(counted->changed, found.steps);
  auto next = judgements.begin();
  const bool is_replaced = std::ranges::any_of(gates, replaces_step);
  if (!is_replaced && next != judgements.end()) found.judgement = *next++;
  for (const MetricGate& gate : gates) {
    const Measured measured = measure(gate, *counted, found.steps);
    if (!measured.is_whole()) {
      found.gates.push_back(unknown_answer(gate, measured));
    } else if (gate.metric.field == MetricField::slow) {
      found.gates.push_back(slow_answer(gate, found, !sides.base_again.empty(), options));
    } else if (!is_judged(gate, measured)) {
      found.gates.push_back(answer_of(gate, measured, std::nullopt, options));
    } else {
      if (!found.judgement && replaces_step(gate)) found.judgement = *next;
      found.gates.push_back(answer_of(gate, measured, *next++, options));
    }
  }
  return found;
}

std::string veto_text(const Judgement& judgement) {
  return fmt::format("the typical step did not change, the mean of all steps did ({:+.1f} %)",
                     100 * *judgement.change_of_all);
}

std::string drift_text(const Judgement& judgement) {
  return fmt::format("the newest {0} runs are longer than the first {0}, {1:+.1f} %", kFirstRuns,
                     100 * *judgement.drift);
}

std::string unclear_runs_text(const Judgement& judgement) {
  if (judgement.bounds->upper < judgement.limit)
    return fmt::format("an increase of {:+.1f} % is not shown beside the other gates",
                       100 * (judgement.is_drift ? *judgement.drift : judgement.change));
  return fmt::format(
      "at a noise of {:.1f} % between runs a change of {:.3g} % is not ruled out (at "
      "most {:+.1f} %): more runs in the baseline or a higher limit would decide",
      100 * judgement.bounds->noise, 100 * judgement.limit, 100 * judgement.bounds->upper);
}

std::string metric_text(const MetricGate& gate, double value) {
  if (gate.is_share_of_step) return fmt::format("{:.3g} % of the step", 100 * value);
  if (gate.metric.field == MetricField::slow)
    return fmt::format("{:.3g} % of the steps", 100 * value);
  if (gate.metric.field == MetricField::calls) return fmt::format("{:.6g}", value);
  if (gate.metric.field == MetricField::peak)
    return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
  return format_duration(std::llround(value));
}

}  // namespace traceloom
