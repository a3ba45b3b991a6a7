#include "comparison/judge_sides.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
Numbers numbers_of(const MetricGate& gate, const std::vector<Capture>& captures, bool& is_known) {
  Numbers numbers;
  for (const Capture& capture : captures) {
    if (!capture.value_ns) continue;
    const std::optional<double> value = value_of(gate.metric, capture);
    is_known |= value.has_value();
    numbers.push_back(value.value_or(0) / (gate.is_share_of_step ? *capture.value_ns : 1));
  }
  return numbers;
}

// One gate with the numbers of both sides.
struct Measured {
  Samples samples;
  bool is_known = false;
  bool lacks_modules = false;  // the gate is on modules, and some captures name none

  bool is_whole() const {
    return is_known && !lacks_modules && !samples.base.empty() && !samples.changed.empty();
  }
};

bool lacks_modules(const std::vector<Capture>& captures) {
  return std::any_of(captures.begin(), captures.end(), [](const Capture& capture) {
    return capture.value_ns && !names_modules(capture);
  });
}

// True if a gate on modules meets a capture that names none: its number is not known, and not 0.
// Both looks are asked, so that each has the same gates.
bool lacks_modules(const MetricGate& gate, const ComparedSides& sides) {
  return gate.metric.of == MetricOf::modules &&
         (lacks_modules(sides.base) || lacks_modules(sides.changed) ||
          lacks_modules(sides.base_again) || lacks_modules(sides.changed_again));
}

Measured measure(const MetricGate& gate, const ComparedSides& sides) {
  Measured found;
  found.samples.base = numbers_of(gate, sides.base, found.is_known);
  found.samples.changed = numbers_of(gate, sides.changed, found.is_known);
  found.lacks_modules = lacks_modules(gate, sides);
  bool ignored = false;
  for (const std::vector<Capture>& group : sides.history)
    if (gate.metric.of != MetricOf::modules || !lacks_modules(group))
      found.samples.history.push_back(numbers_of(gate, group, ignored));
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
  for (const Numbers& group : samples.history)
    all = all && std::all_of(group.begin(), group.end(), is_positive);
  return all;
}

Question question_of(const MetricGate& gate, const Measured& measured, JudgeOptions options) {
  Question question{measured.samples, options};
  JudgeOptions& own = question.options;
  if (gate.most) {
    // The base is the limit; the noise of its captures still counts.
    question.samples.history.push_back(std::exchange(question.samples.base, {*gate.most}));
    question.samples.base_is_exact = true;
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

bool is_judged(const MetricGate& gate, const Measured& measured) {
  return measured.is_whole() && !gate.metric.is_exact();
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

MetricAnswer exact_answer(const MetricGate& gate, const Measured& measured) {
  MetricAnswer found;
  found.base = mean(measured.samples.base);
  found.changed = mean(measured.samples.changed);
  const double most = gate.most ? *gate.most : *found.base + allowed_change(gate, *found.base);
  found.kind = *found.changed > most * (1 + kExact) ? ChangeKind::regression : ChangeKind::ok;
  if (found.kind == ChangeKind::regression) found.why = exceeds_text(gate, found);
  return found;
}

MetricAnswer judged_answer(const MetricGate& gate, const Measured& measured,
                           const Judgement& judgement, const JudgeOptions& options) {
  MetricAnswer found;
  found.base = mean(measured.samples.base);
  found.changed = mean(measured.samples.changed);
  found.judgement = judgement;
  found.kind = judgement.kind;
  if (gate.most && found.kind == ChangeKind::improvement) found.kind = ChangeKind::ok;
  // What no capture has more of than allowed needs no noise: a wait that is 0 everywhere.
  const double most = gate.most ? *gate.most : *found.base + allowed_change(gate, *found.base);
  if (*std::max_element(measured.samples.changed.begin(), measured.samples.changed.end()) == 0 &&
      most >= 0)
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
    found.why = gate.name + ": no capture has such an event";
  return found;
}

// The step comes first if both sides have its numbers, then the gates with noise.
std::vector<Question> questions_of(const ComparedSides& sides, const JudgeOptions& options,
                                   const std::vector<MetricGate>& gates) {
  Samples steps{values_of(sides.base), values_of(sides.changed), sides.older_steps};
  if (steps.base.empty() || steps.changed.empty()) return {};
  for (const std::vector<Capture>& group : sides.history) steps.history.push_back(values_of(group));
  std::vector<Question> questions{{steps, options}};
  for (const MetricGate& gate : gates) {
    const Measured measured = measure(gate, sides);
    if (is_judged(gate, measured)) questions.push_back(question_of(gate, measured, options));
  }
  return questions;
}

ComparedSides with_second_look(const ComparedSides& sides) {
  ComparedSides all = sides;
  all.base.insert(all.base.end(), sides.base_again.begin(), sides.base_again.end());
  all.changed.insert(all.changed.end(), sides.changed_again.begin(), sides.changed_again.end());
  return all;
}

}  // namespace

JudgedSides judge_sides(const ComparedSides& sides, const JudgeOptions& options,
                        const std::vector<MetricGate>& gates) {
  JudgedSides found;
  ComparedSides counted = sides;
  std::vector<Question> questions = questions_of(sides, options, gates);
  std::vector<Judgement> judgements;
  if (sides.base_again.empty()) {
    judgements = judge_family(questions);
  } else {
    const ComparedSides all = with_second_look(sides);
    SecondLook look = judge_twice(questions, questions_of(all, options, gates));
    judgements = std::move(look.judgements);
    found.looks = look.looks;
    if (look.looks == 2) counted = all;
  }
  auto next = judgements.begin();
  if (next != judgements.end()) found.step = *next++;
  for (const MetricGate& gate : gates) {
    const Measured measured = measure(gate, counted);
    if (!measured.is_whole())
      found.gates.push_back(unknown_answer(gate, measured));
    else if (gate.metric.is_exact())
      found.gates.push_back(exact_answer(gate, measured));
    else
      found.gates.push_back(judged_answer(gate, measured, *next++, options));
  }
  return found;
}

std::string metric_text(const MetricGate& gate, double value) {
  if (gate.is_share_of_step) return fmt::format("{:.3g} % of the step", 100 * value);
  if (gate.metric.field == MetricField::calls) return fmt::format("{:.6g}", value);
  if (gate.metric.field == MetricField::peak)
    return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
  return format_duration(std::llround(value));
}

}  // namespace traceloom
