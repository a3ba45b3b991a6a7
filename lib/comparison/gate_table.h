// gate_table: the gates of a comparison as a table, one row a gate.
//
//   report.tables.push_back({"gates", "Gates", gate_table(options.gates, found.gates)});
#pragma once

#include "comparison/judge_sides.h"
#include "table/table.h"

#include <vector>

namespace traceloom {

Table gate_table(const std::vector<MetricGate>& gates, const std::vector<MetricAnswer>& answers);

}  // namespace traceloom
