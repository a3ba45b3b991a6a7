#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace traceloom {
namespace {

Report gpu_report_of(const TruthRow& row) {
  return gpu_report(run_of(row, {.details = true}));
}

double round_to(double value, double digits) {
  return std::round(value * digits) / digits;
}

// Finds the row of the rank in `row`, or the only rank of the file, whatever its number.
const ReportRow* find_row(const TruthRow& row, const std::vector<ReportRow>& rows) {
  const auto rank = static_cast<std::int64_t>(number_of(row.expected, "rank"));
  const auto device = static_cast<std::int64_t>(number_of(row.expected, "gpu", -1));
  for (const ReportRow& found : rows)
    if ((row.traces.size() == 1 || number_in(found, "rank") == rank) &&
        (device < 0 || number_in(found, "device") == device))
      return &found;
  return nullptr;
}

bool is_null_cell(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

// A share that a row may hold as null, which one may know better.
std::string compare_share(const TruthRow& row, const ReportRow& found, const std::string& key,
                          std::string_view column, double factor) {
  const oracle::Json* const value = row.expected.find(key);
  if (value == nullptr || value->kind == oracle::Json::Kind::null) return "";
  if (is_null_cell(cell_in(found, column))) return key + " is not known; ";
  return compare(row, key, share_in(found, column) * factor, std::stod(value->text));
}

}  // namespace

std::string check_gpu_metrics(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(gpu_report_of(row), "rows");
  const ReportRow* const found = find_row(row, rows);
  if (found == nullptr) return "no such device";
  return compare_share(row, *found, "utilization", "utilization", 1) +
         compare_share(row, *found, "sm_efficiency", "sm_efficiency", 1) +
         compare_share(row, *found, "occupancy_pct", "occupancy", 100);
}

std::string check_gpu_metrics_text(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(gpu_report_of(row), "rows");
  const auto percent = [&](std::string_view column) {
    return fmt::format("{:.2f} %", share_in(rows.at(0), column) * 100);
  };
  std::string differences;
  for (const auto& [name, column] : {std::pair{"GPU Utilization", "utilization"},
                                     std::pair{"Est. SM Efficiency", "sm_efficiency"},
                                     std::pair{"Est. Achieved Occupancy", "occupancy"}})
    if (percent(column) != text_of_key(row.expected, name))
      differences += fmt::format("{}: {} and not {}; ", name, percent(column),
                                 text_of_key(row.expected, name));
  return differences;
}

std::string check_tracelens_timeline(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(gpu_report_of(row), "rows");
  if (rows.empty()) return "no devices";
  std::string differences;
  for (const auto& [name, column] :
       {std::pair{"computation_time", "compute_ns"},
        std::pair{"exposed_comm_time", "exposed_comm_ns"},
        std::pair{"exposed_memcpy_time", "exposed_memcpy_ns"}, std::pair{"busy_time", "busy_ns"},
        std::pair{"idle_time", "idle_ns"}, std::pair{"total_time", "total_ns"},
        std::pair{"total_comm_time", "comm_ns"}, std::pair{"total_memcpy_time", "memcpy_ns"}})
    differences +=
        compare(row, name, us_in(rows.front(), column) / 1000, number_of(row.expected, name));
  return differences;
}

std::string check_hta_breakdown(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(gpu_report_of(row), "rows");
  const ReportRow* const found = find_row(row, rows);
  if (found == nullptr) return "no such rank";
  if (row.expected.find("error") != nullptr) return "HTA fails, we do not";
  return compare(row, "kernel_time", us_in(*found, "total_ns"),
                 number_of(row.expected, "kernel_time(us)")) +
         compare(row, "compute_time", us_in(*found, "kernel_ns"),
                 number_of(row.expected, "compute_time(us)")) +
         compare(row, "idle_time", us_in(*found, "idle_ns"),
                 number_of(row.expected, "idle_time(us)")) +
         compare(row, "non_compute_time", us_in(*found, "non_compute_ns"),
                 number_of(row.expected, "non_compute_time(us)"));
}

std::string check_hta_overlap(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(gpu_report_of(row), "rows");
  const ReportRow* const found = find_row(row, rows);
  if (found == nullptr) return "no such rank";
  const Cell& cell = cell_in(*found, "overlap_share");
  const oracle::Json* const inner = row.expected.find("comp_comm_overlap_pctg");
  const oracle::Json& expected = inner != nullptr ? *inner : row.expected;
  if (expected.kind == oracle::Json::Kind::null)
    return is_null_cell(cell) ? "" : "there is communication; ";
  if (is_null_cell(cell)) return "no communication; ";
  return compare(row, "overlap", round_to(std::get<double>(cell) * 100, 100),
                 std::stod(expected.text));
}

// tb_plugin's stack of a step: computation alone, both, communication alone, nothing of both.
std::string check_comm_overlap(const TruthRow& row) {
  const auto rank = static_cast<std::int64_t>(number_of(row.expected, "rank"));
  std::string differences = "no such rank; ";
  for (const ReportRow& found : rows_of(steps_report(run_of(row), {.raw = true}), "rows")) {
    if (number_in(found, "rank") != rank) continue;
    const double overlap = us_in(found, "raw_communication_ns") - us_in(found, "communication_ns");
    differences = compare(row, "overlap", overlap, number_of(row.expected, "overlap")) +
                  compare(row, "computation_only", us_in(found, "raw_kernel_ns") - overlap,
                          number_of(row.expected, "computation_only")) +
                  compare(row, "communication_only", us_in(found, "communication_ns"),
                          number_of(row.expected, "communication_only")) +
                  compare(row, "other",
                          us_in(found, "total_ns") + overlap - us_in(found, "raw_kernel_ns") -
                              us_in(found, "raw_communication_ns"),
                          number_of(row.expected, "other"));
  }
  return differences;
}

}  // namespace traceloom
