#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <cmath>
#include <set>

namespace traceloom {

std::string check_composer_share(const TruthRow& row) {
  const auto rank = static_cast<std::int64_t>(number_of(row.expected, "rank"));
  for (const ReportRow& found : rows_of(dataloader_report(run_of(row)), "rows")) {
    if (number_in(found, "rank") != rank) continue;
    return compare(row, "dataloader_us", static_cast<double>(number_in(found, "wait_ns")) / 1000,
                   number_of(row.expected, "dataloader_us")) +
           compare(row, "pct", std::round(share_in(found, "share") * 1e6) / 1e4,
                   number_of(row.expected, "pct"));
  }
  return "no such rank";
}

// Checks the three rules of tb_plugin that need no operators: the loader takes over 5 % or
// communication over 10 % of a step, or a device is used for less than half of it.
std::string check_recommendations(const TruthRow& row) {
  const Run& run = run_of(row);
  const Verdict verdict = find_verdict(Findings(run));
  std::set<std::string> fired;
  std::string differences;
  const auto add = [&](const std::string& kind, double share, double limit) {
    if (share <= limit) return;
    fired.insert(kind);
    for (const oracle::Json& item : row.expected.items)
      if (text_of_key(item, "kind") == kind)
        differences += compare(row, kind, std::round(share * 1000) / 10, number_of(item, "pct"));
  };
  add("dataloader", verdict.shares[Limit::data_loading].share(), 0.05);
  add("communication", verdict.shares[Limit::communication].share(), 0.10);
  for (const DeviceTimes& device : device_times(run))
    if (device.utilization.value_or(1) < 0.5) fired.insert("low_gpu_utilization");
  std::set<std::string> expected;
  for (const oracle::Json& item : row.expected.items)
    if (text_of_key(item, "kind") != "amp") expected.insert(text_of_key(item, "kind"));
  return fired == expected ? differences : differences + "other rules fire; ";
}

}  // namespace traceloom
