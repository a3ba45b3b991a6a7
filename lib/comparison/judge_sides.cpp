#include "comparison/judge_sides.h"

#include "analysis/numbers.h"
#include "base/problems.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>

namespace traceloom {
namespace {

const std::vector<Role> kDeviceRoles{Role::kernel, Role::memcpy, Role::memset, Role::communication};

struct MetricName {
  std::string_view name;
  MetricOf of;
  std::vector<Role> roles;
};

const std::vector<MetricName>& metric_names() {
  static const std::vector<MetricName> all = [] {
    std::vector<MetricName> names{{"step", MetricOf::step, {}},
                                  {"device", MetricOf::events, kDeviceRoles},
                                  {"op", MetricOf::operators, kDeviceRoles},
                                  {"module", MetricOf::modules, kDeviceRoles},
                                  {"loader", MetricOf::events, {Role::dataloader}},
                                  {"memory", MetricOf::memory, {}}};
    for (std::size_t i = 0; i < kRoleCount; ++i)
      names.push_back({kRoleNames[i], MetricOf::events, {static_cast<Role>(i)}});
    return names;
  }();
  return all;
}

MetricField field_named(const std::string& name) {
  const auto* const found = std::find(kMetricFields.begin(), kMetricFields.end(), name);
  return static_cast<MetricField>(found - kMetricFields.begin());
}

bool has_field(MetricOf of, MetricField field) {
  const bool is_of_steps = field == MetricField::p50 || field == MetricField::p99 ||
                           field == MetricField::max || field == MetricField::slow;
  switch (of) {
    case MetricOf::step:
      return field == MetricField::time || is_of_steps;
    case MetricOf::memory:
      return field == MetricField::peak;
    default:
      return !is_of_steps && field != MetricField::peak;
  }
}

// Reads what is measured, without its field.
Metric read_metric(const std::string& option, const GateTerm& term) {
  Metric metric;
  if (term.pattern) metric.pattern = NamePattern(*term.pattern);
  const auto found = std::ranges::find(metric_names(), term.name, &MetricName::name);
  if (found == metric_names().end())
    throw UsageError(
        fmt::format("{}: '{}' is not one of {}", option, term.name,
                    fmt::join(metric_names() | std::views::transform(&MetricName::name), ", ")));
  metric.of = found->of;
  metric.roles = found->roles;
  if (metric.pattern && (metric.of == MetricOf::step || metric.of == MetricOf::memory))
    throw UsageError(fmt::format("{}: {} has no names, so it takes no pattern", option, term.name));
  return metric;
}

void read_field(const std::string& option, const GateTerm& term, Metric& metric) {
  if (term.field.empty())
    metric.field = metric.of == MetricOf::memory ? MetricField::peak : MetricField::time;
  else
    metric.field = field_named(term.field);
  if (has_field(metric.of, metric.field)) return;
  std::vector<std::string_view> fields;
  for (std::size_t i = 0; i < kMetricFields.size(); ++i)
    if (has_field(metric.of, static_cast<MetricField>(i))) fields.push_back(kMetricFields[i]);
  throw UsageError(fmt::format("{}: {} has no {}, but {}", option, term.name, term.field,
                               fmt::join(fields, ", ")));
}

BoundUnit unit_of(MetricField field) {
  if (field == MetricField::calls) return BoundUnit::number;
  return field == MetricField::peak ? BoundUnit::bytes : BoundUnit::time;
}

void take_bound(const std::string& option, const GateBound& bound, MetricGate& gate) {
  if (gate.metric.field == MetricField::slow) {
    if (bound.unit != BoundUnit::share || !bound.is_change)
      throw UsageError(
          fmt::format("{}: '{}': {} is compared with +2%", option, gate.text, gate.name));
    gate.change = bound.value;
    return;
  }
  static constexpr std::array<std::string_view, 4> kExamples{"", "5ms", "2GiB", "100"};
  const BoundUnit unit = unit_of(gate.metric.field);
  const bool is_share = bound.unit == BoundUnit::share;
  const bool fits = bound.unit == unit ||
                    (is_share && (bound.is_change ||
                                  (unit == BoundUnit::time && gate.metric.of != MetricOf::step)));
  if (!fits)
    throw UsageError(fmt::format("{}: '{}': {} is compared with +10% or {}", option, gate.text,
                                 gate.name, kExamples[static_cast<std::size_t>(unit)]));
  if (!bound.is_change) {
    gate.most = bound.value;
    gate.is_share_of_step = is_share;
  } else {
    (is_share ? gate.relative : gate.change) = bound.value;
  }
}

void read_bounds(const std::string& option, const GateTerm& term, MetricGate& gate) {
  if (term.bounds.empty())
    throw UsageError(
        fmt::format("{}: '{}' has no bound (try '{}<=+10%')", option, term.text, term.metric()));
  for (const GateBound& bound : term.bounds) take_bound(option, bound, gate);
  const std::size_t read = (gate.relative ? 1 : 0) + (gate.change ? 1 : 0) + (gate.most ? 1 : 0);
  if (read != term.bounds.size() || (gate.most && read != 1))
    throw UsageError(
        fmt::format("{}: '{}': give one number, or a change in percent and one in the unit: "
                    "'loader<=+10% or +1ms'",
                    option, term.text));
}

// Returns the name in which the pattern is searched for.
const std::string& name_for(const Metric& metric, const RowKey& key) {
  if (metric.of == MetricOf::operators) return key.op;
  return metric.of == MetricOf::modules ? key.module : key.name;
}

// Adds the events that the metric counts, of one rank's steps of one content.
double sum_of_events(const Metric& metric, const CaptureRank& rank, bool& has_events) {
  double sum = 0;
  for (const CaptureRow& row : rank.rows) {
    if (std::ranges::find(metric.roles, row.key->role) == metric.roles.end()) continue;
    const std::string& name = name_for(metric, *row.key);
    if (metric.of == MetricOf::modules && name.empty()) continue;
    if (metric.pattern && !metric.pattern->found_in(name)) continue;
    has_events = true;
    sum += static_cast<double>(metric.field == MetricField::calls     ? row.count
                               : metric.field == MetricField::exposed ? row.exclusive_ns
                                                                      : row.total_ns);
  }
  return sum;
}

std::optional<double> value_of_steps(MetricField field, const Capture& capture,
                                     const ComparedSteps& compared) {
  if (field == MetricField::time) return capture_value(capture, compared);
  const std::span steps = used_steps(capture.steps_ns, compared.count);
  if (steps.empty()) return std::nullopt;
  if (field == MetricField::slow)
    return static_cast<double>(count_slow_steps(capture, compared)) /
           static_cast<double>(steps.size());
  const std::size_t percent = field == MetricField::p50 ? 50 : field == MetricField::p99 ? 99 : 100;
  return static_cast<double>(
      percentile(std::vector<std::int64_t>(steps.begin(), steps.end()), percent));
}

}  // namespace

MetricGate read_metric_gate(const std::string& option, const std::string& text) {
  const GateTerm term = read_gate_term(option, text, {kMetricFields.begin(), kMetricFields.end()});
  MetricGate gate{.text = term.text, .name = term.metric()};
  try {
    gate.metric = read_metric(option, term);
  } catch (const UsageError& error) {
    // A pattern does not know the option.
    if (std::string_view(error.what()).starts_with(option)) throw;
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
  read_field(option, term, gate.metric);
  read_bounds(option, term, gate);
  return gate;
}

bool needs_memory(const std::vector<MetricGate>& gates) {
  return std::any_of(gates.begin(), gates.end(),
                     [](const MetricGate& gate) { return gate.metric.of == MetricOf::memory; });
}

std::optional<double> value_of(const Metric& metric, const Capture& capture,
                               const ComparedSteps& steps) {
  if (metric.of == MetricOf::step) return value_of_steps(metric.field, capture, steps);
  if (metric.of == MetricOf::memory) {
    if (!capture.peak_bytes) return std::nullopt;
    return static_cast<double>(*capture.peak_bytes);
  }
  bool has_events = false;
  double most = 0;
  for (const std::int64_t rank : ranks_in(capture)) {
    double sum = 0;
    for (const WeighedRank& one : steps.rows_of(capture, rank))
      sum += one.mean(sum_of_events(metric, *one.rank, has_events));
    most = std::max(most, sum);
  }
  if (!has_events) return std::nullopt;
  return most;
}

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
  add(sides.base);
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

// True if the capture has work of a device that was launched in a torch module.
bool names_modules(const Capture& capture) {
  return value_of({.of = MetricOf::modules, .roles = kDeviceRoles}, capture).has_value();
}

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
    question.samples.history.push_back(std::exchange(question.samples.base, {*gate.most}));
    question.samples.base_is_exact = true;
    question.samples.base_of_all.clear();
    question.samples.runs.clear();
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
std::vector<Question> questions_of(const ComparedSides& sides, const JudgeOptions& options,
                                   const std::vector<MetricGate>& gates) {
  const ComparedSteps steps(sides.base, sides.changed, sides.earlier_runs);
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

ComparedSides ComparedSides::with_second_look() const {
  ComparedSides all = *this;
  all.base.insert(all.base.end(), base_again.begin(), base_again.end());
  all.changed.insert(all.changed.end(), changed_again.begin(), changed_again.end());
  return all;
}

JudgedSides judge_sides(const ComparedSides& sides, const JudgeOptions& options,
                        const std::vector<MetricGate>& gates) {
  JudgedSides found;
  const ComparedSides* counted = &sides;
  ComparedSides all;
  std::vector<Question> questions = questions_of(sides, options, gates);
  std::vector<Judgement> judgements;
  if (sides.base_again.empty()) {
    judgements = judge_family(questions);
  } else {
    all = sides.with_second_look();
    SecondLook look = judge_twice(questions, questions_of(all, options, gates));
    judgements = std::move(look.judgements);
    found.looks = look.looks;
    if (look.looks == 2) counted = &all;
  }
  found.steps = ComparedSteps(counted->base, counted->changed, counted->earlier_runs);
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
  return fmt::format("at a noise of {:.1f} % between runs a change of {:.3g} % is not ruled out (at "
                     "most {:+.1f} %): more runs in the baseline or a higher limit would decide",
                     100 * judgement.bounds->noise, 100 * judgement.limit,
                     100 * judgement.bounds->upper);
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
