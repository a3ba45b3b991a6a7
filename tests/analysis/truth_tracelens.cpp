// TraceLens' tables of operators and kernels, and tb_plugin's numbers on tensor cores.
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace traceloom {
namespace {

const RunRequest kWithLensArguments{.details = true, .arguments = true};

double share_or_0(const ReportRow& row, std::string_view key) {
  const Cell& cell = cell_in(row, key);
  return std::holds_alternative<double>(cell) ? std::get<double>(cell) : 0;
}

// TraceLens' name of a kind of work.
std::string category_of(const std::string& type) {
  for (const auto& [ours, theirs] :
       {std::pair{"gemm", "GEMM"}, std::pair{"norm", "NORM_fwd"}, std::pair{"norm_bwd", "NORM_bwd"},
        std::pair{"conv", "CONV_fwd"}, std::pair{"conv_bwd", "CONV_bwd"},
        std::pair{"multi_tensor", "multi_tensor_apply"}})
    if (type == ours) return theirs;
  return type;
}

std::string compare_key(const TruthRow& row, const std::string& key, double found) {
  return row.expected.find(key) == nullptr ? ""
                                           : compare(row, key, found, number_of(row.expected, key));
}

// TraceLens adds up ends minus starts of absolute times in microseconds as doubles, which are off
// by up to 2^-11 us for each operator.
double rounding_us(std::int64_t operators) {
  return static_cast<double>(operators) / 2048;
}

std::string compare_rounded(const TruthRow& row, const std::string& key, double found,
                            double rounding) {
  if (row.expected.find(key) == nullptr) return "";
  const double expected = number_of(row.expected, key);
  return compare(row, key, std::abs(found - expected) <= rounding ? expected : found, expected);
}

std::string compare_op(const TruthRow& row, const ReportRow& found) {
  const std::int64_t count = number_in(found, "launchers");
  const double self_us = us_in(found, "device_self_ns");
  const double total_us = us_in(found, "device_total_ns");
  const double off_us = rounding_us(count);
  const double percent = share_or_0(found, "device_share") * 100;
  // Off by as much as the row is, and as all rows are, which have no more than that an operator.
  const double percent_off = self_us > 0 ? 2 * percent * off_us / self_us : 0;
  return compare_key(row, "Count", static_cast<double>(count)) +
         compare_rounded(row, "total_direct_kernel_time_sum", self_us, off_us) +
         compare_rounded(row, "total_direct_kernel_time_ms", self_us / 1000, off_us / 1000) +
         compare_rounded(row, "total_subtree_kernel_time_sum", total_us, off_us) +
         compare_rounded(row, "total_subtree_kernel_time_ms", total_us / 1000, off_us / 1000) +
         compare_rounded(row, "Percentage (%)", percent, percent_off);
}

// The rows must be sorted by the time of devices.
std::string compare_cumulative(const TruthRow& row, const std::vector<ReportRow>& rows,
                               std::size_t at) {
  double cumulative = 0;
  double total_us = 0;
  std::int64_t operators = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i <= at) cumulative += share_or_0(rows[i], "device_share") * 100;
    total_us += us_in(rows[i], "device_self_ns");
    operators += number_in(rows[i], "launchers");
  }
  return compare_rounded(row, "Cumulative Percentage (%)", cumulative,
                         200 * rounding_us(operators) / total_us);
}

// "((16, 1), ())" and "('', '1')" as JSON has them, without spaces.
std::string as_json(const std::string& tuple) {
  std::string text;
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    const char c = tuple[i];
    if (c == ' ' || (c == ',' && i + 1 < tuple.size() && tuple[i + 1] == ')')) continue;
    text += c == '(' ? '[' : c == ')' ? ']' : c == '\'' ? '"' : c;
  }
  return text;
}

bool is_short_row(const TruthRow& row, const ReportRow& found) {
  const auto same = [&](const char* theirs, const char* ours) {
    return row.expected.find(theirs) == nullptr || as_json(text_of_key(row.expected, theirs)) ==
                                                       without_spaces(text_or_nothing(found, ours));
  };
  return text_in(found, "name") == text_of_key(row.expected, "Kernel name") &&
         text_or_nothing(found, "op") == text_of_key(row.expected, "Parent cpu_op") &&
         same("Input dims", "shape") && same("Input strides", "strides") &&
         same("Concrete Inputs", "inputs");
}

}  // namespace

std::string check_tracelens_category(const TruthRow& row) {
  const Report report =
      ops_report(run_of(row, kWithLensArguments), {.by_name = false, .by_type = true});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  // The share of a kind with those before it depends on how the rest is divided, and is left out.
  for (const ReportRow& found : rows)
    if (category_of(text_in(found, "type")) == text_of_key(row.expected, "op category"))
      return compare_op(row, found);
  return "no such kind of work";
}

std::string check_tracelens_ops(const TruthRow& row) {
  const Report report = ops_report(run_of(row, kWithLensArguments), {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (text_in(rows[i], "name") != text_of_key(row.expected, "name")) continue;
    return compare_op(row, rows[i]) + compare_cumulative(row, rows, i);
  }
  return "no such operator";
}

std::string check_tracelens_kernels(const TruthRow& row) {
  const Report report = kernels_report(run_of(row, kWithLensArguments),
                                       {.by_type = true, .by_operator = true, .by_stream = true});
  std::string differences = "no such kernel";
  for (const ReportRow& found : rows_of(report, "rows")) {
    if (text_in(found, "name") != text_of_key(row.expected, "Kernel name") ||
        text_or_nothing(found, "op") != text_of_key(row.expected, "Parent cpu_op") ||
        static_cast<double>(number_in(found, "stream")) != number_of(row.expected, "Kernel stream"))
      continue;
    const std::string category = text_of_key(row.expected, "Parent op category");
    const std::string ours = category_of(text_in(found, "type"));
    // TraceLens gives no category without an operator, and "runtime" for a bare call.
    const bool same = category.empty() || category == "runtime" || category == ours;
    differences = same ? "" : "category: " + ours + " and not " + category + "; ";
    return differences + compare_key(row, "Kernel duration (µs)_sum", us_in(found, "total_ns")) +
           compare_key(row, "Kernel duration (µs)_count",
                       static_cast<double>(number_in(found, "count"))) +
           compare_key(row, "Kernel duration (µs)_min", us_in(found, "min_ns")) +
           compare_key(row, "Kernel duration (µs)_max", us_in(found, "max_ns")) +
           compare_key(row, "Percent of kernels time (%)", share_in(found, "share") * 100) +
           compare_key(row, "Percent of total time (%)", share_in(found, "gpu_share") * 100);
  }
  return differences;
}

std::string check_tracelens_short(const TruthRow& row) {
  const Report report =
      kernels_report(run_of(row, kWithLensArguments), {.by_operator = true, .by_arguments = true});
  std::int64_t count = 0;
  std::int64_t ns = 0;
  double devices_ns = 0;
  for (const ReportRow& found : rows_of(report, "rows")) {
    if (!is_short_row(row, found)) continue;  // rows of several types of inputs are one there
    count += number_in(found, "short_count");
    ns += number_in(found, "short_ns");
    devices_ns = static_cast<double>(number_in(found, "total_ns")) / share_in(found, "gpu_share");
  }
  if (count == 0) return "no such short kernel";
  const double sum_us = static_cast<double>(ns) / 1000;
  return compare_key(row, "Short Kernel duration (µs) sum", sum_us) +
         compare_key(row, "Short Kernel count", static_cast<double>(count)) +
         compare_key(row, "Short Kernel duration (µs) mean", sum_us / static_cast<double>(count)) +
         compare_key(row, "Short Kernel duration (µs) percent of total time",
                     static_cast<double>(ns) / devices_ns * 100);
}

std::string check_tensor_core(const TruthRow& row) {
  const Report report = kernels_report(run_of(row, {.details = true}), {});
  const oracle::Json totals = oracle::parse_json(report.values.at(0).second);
  return compare(row, "ratio_gpu0", number_of(totals, "tensor_core_share"),
                 number_of(row.expected, "ratio_gpu0")) +
         compare(row, "eligible_ops_kernel_ratio", number_of(totals, "tensor_core_eligible_share"),
                 number_of(row.expected, "eligible_ops_kernel_ratio"));
}

std::string check_tensor_core_op(const TruthRow& row) {
  const Report report = ops_report(run_of(row, {.details = true}), {});
  for (const ReportRow& found : rows_of(report, "rows")) {
    if (text_in(found, "name") != text_of_key(row.expected, "name")) continue;
    const bool eligible = number_in(found, "tensor_core_eligible") > 0;
    const bool expected = text_of_key(row.expected, "eligible") == "true";
    return std::string(eligible == expected ? "" : "eligible; ") +
           compare(row, "self", share_or_0(found, "tensor_core_self_share"),
                   number_of(row.expected, "self_ratio")) +
           compare(row, "total", share_or_0(found, "tensor_core_total_share"),
                   number_of(row.expected, "total_ratio"));
  }
  return "no such operator";
}

}  // namespace traceloom
