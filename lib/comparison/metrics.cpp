#include "analysis/numbers.h"
#include "base/problems.h"
#include "comparison/judge_sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <span>

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

bool names_modules(const Capture& capture) {
  return value_of({.of = MetricOf::modules, .roles = kDeviceRoles}, capture).has_value();
}

}  // namespace traceloom
