#include "summarize/latency_gate.h"

#include "base/error.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace traceloom {
namespace {

// The columns with a number stand first in the order of SummaryOrder.
constexpr std::size_t kFields = static_cast<std::size_t>(SummaryOrder::name);
const std::vector<std::string_view> kFieldNames(std::begin(kSummaryOrderNames),
                                                std::begin(kSummaryOrderNames) + kFields);

std::int64_t value_of(const DurationStats& stats, SummaryOrder field) {
  switch (field) {
    case SummaryOrder::total:
      return stats.total_ns;
    case SummaryOrder::count:
      return static_cast<std::int64_t>(stats.count);
    case SummaryOrder::mean:
      return stats.mean_ns;
    case SummaryOrder::min:
      return stats.min_ns;
    case SummaryOrder::p50:
      return stats.p50_ns;
    case SummaryOrder::p90:
      return stats.p90_ns;
    case SummaryOrder::p99:
      return stats.p99_ns;
    case SummaryOrder::max:
      return stats.max_ns;
    default:
      return stats.stddev_ns;
  }
}

std::string value_text(SummaryOrder field, std::int64_t value) {
  return field == SummaryOrder::count ? format_count(static_cast<std::uint64_t>(value))
                                      : format_duration(value);
}

// Returns "decode", with its rank and categories where several rows have the name.
std::string row_name(const SummaryRow& row) {
  std::string name = row.name.value_or("");
  if (row.rank) name += fmt::format(" of rank {}", *row.rank);
  const bool has_category = !row.categories.empty() && !row.categories.front().empty();
  if (has_category) name += fmt::format(" ({})", fmt::join(row.categories, ","));
  return name;
}

}  // namespace

bool LatencyGate::is_of(const SummaryRow& row) const {
  if (!row.name) return false;
  return pattern ? pattern->found_in(*row.name) : *row.name == name;
}

LatencyGate read_latency_gate(const std::string& option, const std::string& text) {
  const GateTerm term = read_gate_term(option, text, kFieldNames);
  if (term.field.empty())
    throw UsageError(fmt::format("{}: '{}' has no field after a dot: {} (try '{}.p99>5ms')", option,
                                 text, fmt::join(kFieldNames, ", "), term.metric()));
  LatencyGate gate{.text = term.text, .name = term.name};
  const auto field = std::find(kFieldNames.begin(), kFieldNames.end(), term.field);
  gate.field = static_cast<SummaryOrder>(field - kFieldNames.begin());
  const bool counts = gate.field == SummaryOrder::count;
  const BoundUnit unit = counts ? BoundUnit::number : BoundUnit::time;
  if (term.bounds.size() != 1 || term.bounds.front().unit != unit || term.bounds.front().is_change)
    throw UsageError(fmt::format("{}: '{}' needs one {} (try '{}>{}')", option, text,
                                 counts ? "number" : "time", term.metric(),
                                 counts ? "100" : "5ms"));
  gate.most = std::llround(std::floor(term.bounds.front().value));
  if (term.pattern && term.name.empty())
    gate.pattern.emplace(*term.pattern);
  else if (term.pattern)
    gate.name += "[" + *term.pattern + "]";  // a name with brackets
  return gate;
}

LatencyAnswer judge(const LatencyGate& gate, const Summary& summary) {
  LatencyAnswer answer;
  for (const SummaryRow& row : summary.rows) {
    if (!gate.is_of(row)) continue;
    ++answer.rows;
    const std::int64_t value = value_of(row.stats, gate.field);
    if (value > gate.most)
      answer.exceeds.push_back(fmt::format("{} has {} {}, more than {}", row_name(row),
                                           kFieldNames[static_cast<std::size_t>(gate.field)],
                                           value_text(gate.field, value),
                                           value_text(gate.field, gate.most)));
  }
  return answer;
}

}  // namespace traceloom
