#include "comparison/metric.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace traceloom {
namespace {

const std::vector<Role> kDeviceRoles{Role::kernel, Role::memcpy, Role::memset, Role::communication};

std::vector<std::string_view> names_of_metrics() {
  std::vector<std::string_view> names{"step", "device", "op", "module", "loader", "memory"};
  names.insert(names.end(), kRoleNames.begin(), kRoleNames.end());
  return names;
}

MetricField field_named(const std::string& name) {
  const auto* const found = std::find(kMetricFields.begin(), kMetricFields.end(), name);
  return static_cast<MetricField>(found - kMetricFields.begin());
}

bool has_field(MetricOf of, MetricField field) {
  const bool is_of_steps =
      field == MetricField::p50 || field == MetricField::p99 || field == MetricField::max;
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
  const auto* const role = std::find(kRoleNames.begin(), kRoleNames.end(), term.name);
  if (role != kRoleNames.end() || term.name == "loader") {
    metric.of = MetricOf::events;
    metric.roles = {role == kRoleNames.end() ? Role::dataloader
                                             : static_cast<Role>(role - kRoleNames.begin())};
  } else if (term.name == "device" || term.name == "op" || term.name == "module") {
    metric.of = term.name == "op"       ? MetricOf::operators
                : term.name == "module" ? MetricOf::modules
                                        : MetricOf::events;
    metric.roles = kDeviceRoles;
  } else if (term.name == "memory") {
    metric.of = MetricOf::memory;
  } else if (term.name != "step") {
    throw UsageError(fmt::format("{}: '{}' is not one of {}", option, term.name,
                                 fmt::join(names_of_metrics(), ", ")));
  }
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

double rank_value(const Metric& metric, const CaptureRank& rank, bool& has_events) {
  double sum = 0;
  for (const CaptureRow& row : rank.rows) {
    if (std::find(metric.roles.begin(), metric.roles.end(), row.key.role) == metric.roles.end())
      continue;
    const std::string& name = name_for(metric, row.key);
    if (metric.of == MetricOf::modules && name.empty()) continue;
    if (metric.pattern && !metric.pattern->found_in(name)) continue;
    has_events = true;
    sum += static_cast<double>(metric.field == MetricField::calls     ? row.count
                               : metric.field == MetricField::exposed ? row.exclusive_ns
                                                                      : row.total_ns);
  }
  return sum / static_cast<double>(rank.steps);
}

std::optional<double> value_of_steps(MetricField field, const Capture& capture) {
  if (field == MetricField::time) return capture.value_ns;
  if (capture.steps_ns.size() < 2) return std::nullopt;
  std::vector<std::int64_t> sorted(capture.steps_ns.begin() + 1, capture.steps_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t percent = field == MetricField::p50 ? 50 : field == MetricField::p99 ? 99 : 100;
  return static_cast<double>(sorted[(percent * sorted.size() + 99) / 100 - 1]);
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

bool names_modules(const Capture& capture) {
  return value_of({.of = MetricOf::modules, .roles = kDeviceRoles}, capture).has_value();
}

std::optional<double> value_of(const Metric& metric, const Capture& capture) {
  if (metric.of == MetricOf::step) return value_of_steps(metric.field, capture);
  if (metric.of == MetricOf::memory) {
    if (!capture.peak_bytes) return std::nullopt;
    return static_cast<double>(*capture.peak_bytes);
  }
  bool has_events = false;
  double most = 0;
  for (const CaptureRank& rank : capture.ranks)
    if (rank.steps > 0) most = std::max(most, rank_value(metric, rank, has_events));
  if (!has_events) return std::nullopt;
  return most;
}

}  // namespace traceloom
