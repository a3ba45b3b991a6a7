#include "comparison/gate_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace traceloom {
namespace {

std::string_view unit_of(const MetricGate& gate) {
  if (gate.is_share_of_step) return "share";
  if (gate.metric.field == MetricField::calls) return "calls";
  return gate.metric.field == MetricField::peak ? "bytes" : "ns";
}

Cell number_cell(const std::optional<double>& number) {
  if (!number) return {};
  return *number;
}

Cell text_cell(const MetricGate& gate, const std::optional<double>& number) {
  if (!number) return {};
  return metric_text(gate, *number);
}

Cell change_cell(const MetricAnswer& answer) {
  if (!answer.base || !answer.changed || *answer.base <= 0) return {};
  return *answer.changed / *answer.base - 1;
}

Cell change_text_cell(const MetricAnswer& answer) {
  const Cell change = change_cell(answer);
  const auto* const number = std::get_if<double>(&change);
  if (number == nullptr) return {};
  return fmt::format("{:+.1f} %", 100 * *number);
}

Cell bound_cell(const MetricAnswer& answer, double ChangeBounds::*number) {
  if (!answer.judgement || !answer.judgement->bounds) return {};
  return (*answer.judgement->bounds).*number;
}

Cell alpha_cell(const MetricAnswer& answer) {
  if (!answer.judgement) return {};
  return answer.judgement->alpha;
}

Cell needed_cell(const MetricAnswer& answer) {
  if (!answer.judgement || !answer.judgement->captures_needed) return {};
  return static_cast<std::int64_t>(*answer.judgement->captures_needed);
}

Cell scale_cell(const MetricAnswer& answer) {
  if (!answer.judgement) return {};
  return std::string(answer.judgement->scale == ChangeScale::relative ? "relative" : "units");
}

}  // namespace

Table gate_table(const std::vector<MetricGate>& gates, const std::vector<MetricAnswer>& answers) {
  Table table({{"gate", "Gate", ColumnKind::text},
               {"verdict", "Verdict", ColumnKind::text},
               {"base_text", "Base", ColumnKind::text, Readers::most},
               {"new_text", "New", ColumnKind::text, Readers::most},
               {"change_text", "Change", ColumnKind::text, Readers::most},
               {"unit", "Unit", ColumnKind::text, Readers::programs},
               {"base", "Base number", ColumnKind::number, Readers::programs},
               {"new", "New number", ColumnKind::number, Readers::programs},
               {"change", "Relative change", ColumnKind::number, Readers::programs},
               {"scale", "Scale", ColumnKind::text, Readers::programs},
               {"noise", "Noise", ColumnKind::number, Readers::programs},
               {"p", "p", ColumnKind::number, Readers::programs},
               {"lower", "Lower", ColumnKind::number, Readers::programs},
               {"upper", "Upper", ColumnKind::number, Readers::programs},
               {"alpha", "Alpha", ColumnKind::number, Readers::programs},
               {"captures_needed", "Captures needed", ColumnKind::count, Readers::programs},
               {"why", "Why", ColumnKind::text, Readers::programs}});
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const MetricAnswer& found = answers[i];
    table.add_row({gates[i].text, std::string(to_string(found.kind)),
                   text_cell(gates[i], found.base), text_cell(gates[i], found.changed),
                   change_text_cell(found), std::string(unit_of(gates[i])), number_cell(found.base),
                   number_cell(found.changed), change_cell(found), scale_cell(found),
                   bound_cell(found, &ChangeBounds::noise), bound_cell(found, &ChangeBounds::p),
                   bound_cell(found, &ChangeBounds::lower), bound_cell(found, &ChangeBounds::upper),
                   alpha_cell(found), needed_cell(found),
                   found.why.empty() ? Cell{} : Cell{found.why}});
  }
  return table;
}

}  // namespace traceloom
