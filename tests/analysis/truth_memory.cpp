#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

namespace traceloom {

std::string check_operator_memory(const TruthRow& row) {
  const Report report =
      memory_report(run_of(row, {.details = true, .samples = true}), {}, {.operators = 0});
  for (const ReportRow& found : rows_of(report, "operators")) {
    if (text_in(found, "device") != text_of_key(row.expected, "device") ||
        text_in(found, "name") != text_of_key(row.expected, "name"))
      continue;
    std::string differences;
    for (const auto& [name, column] :
         {std::pair{"self_increase", "self_increase_bytes"},
          std::pair{"self_alloc", "self_alloc_bytes"}, std::pair{"self_alloc_count", "self_count"},
          std::pair{"increase", "increase_bytes"}, std::pair{"alloc", "alloc_bytes"},
          std::pair{"alloc_count", "count"}, std::pair{"calls", "calls"}})
      differences += compare(row, name, static_cast<double>(number_in(found, column)),
                             number_of(row.expected, name));
    return differences;
  }
  return "no such operator on that device";
}

}  // namespace traceloom
