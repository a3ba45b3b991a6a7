#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace traceloom {
namespace {

// The name in a row, and the column in ns that it is.
const std::vector<std::pair<std::string, std::string>> kRoles{
    {"Kernel", "kernel_ns"},
    {"Memcpy", "memcpy_ns"},
    {"Memset", "memset_ns"},
    {"Communication", "communication_ns"},
    {"Runtime", "runtime_ns"},
    {"DataLoader", "dataloader_ns"},
    {"CpuExec", "cpu_ns"},
    {"CPU Exec", "cpu_ns"},
    {"Other", "other_ns"},
    {"Total", "total_ns"},
    {"compute", "kernel_ns"},
    {"communication", "communication_ns"},
    {"runtime", "runtime_ns"},
    {"dataloader", "dataloader_ns"},
    {"cpu_op", "cpu_ns"},
    {"other", "other_ns"},
    {"total", "total_ns"},
    {"communication_all", "raw_communication_ns"},
    {"Average Step Time", "total_ns"}};

// One trace of one rank.
Report report_of(const TruthRow& row) {
  return steps_report(run_of(row), {.raw = true});
}

std::string compare_roles(const TruthRow& row, const ReportRow& found, bool rounded) {
  std::string differences;
  for (const auto& [name, column] : kRoles) {
    const oracle::Json* const value = row.expected.find(name);
    if (value == nullptr) continue;
    const bool is_pair = value->kind == oracle::Json::Kind::object;
    const double expected = is_pair ? number_of(*value, "us") : std::stod(value->text);
    double us = static_cast<double>(number_in(found, column)) / 1000;
    if (rounded) us = std::round(us);
    differences += compare(row, name, us, expected);
    if (!is_pair) continue;
    const double share = static_cast<double>(number_in(found, column)) /
                         static_cast<double>(number_in(found, "total_ns"));
    differences +=
        compare(row, name + " %", std::round(share * 10000) / 100, number_of(*value, "pct"));
  }
  return differences;
}

}  // namespace

std::string check_step_breakdown(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(report_of(row), "rows");
  const auto step = static_cast<std::int64_t>(number_of(row.expected, "step"));
  for (const ReportRow& found : rows) {
    if (number_in(found, "step") != step) continue;
    std::string differences = compare_roles(row, found, false);
    if (row.expected.find("communication_overlapped_by_compute") != nullptr)
      differences += compare(row, "overlapped",
                             static_cast<double>(number_in(found, "raw_communication_ns") -
                                                 number_in(found, "communication_ns")) /
                                 1000,
                             number_of(row.expected, "communication_overlapped_by_compute"));
    return differences;
  }
  return fmt::format("no step {}", step);
}

std::string check_step_breakdown_average(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(report_of(row), "summary");
  if (rows.empty()) return "no steps";
  return compare_roles(row, rows.front(), row.expected.find("Average Step Time") != nullptr);
}

}  // namespace traceloom
