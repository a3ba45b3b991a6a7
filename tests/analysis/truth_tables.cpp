#include "analysis/collectives/collectives.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace traceloom {
namespace {

// column of a row, and our column in ns
using Columns = std::vector<std::pair<std::string, std::string>>;

// Compares the columns that a row names, in microseconds; in whole ones if the row is marked as
// rounded.
std::string compare_times(const TruthRow& row, const ReportRow& found, const Columns& columns) {
  std::string differences;
  for (const auto& [name, column] : columns) {
    if (row.expected.find(name) == nullptr) continue;
    const double expected = number_of(row.expected, name);
    const double time = us_in(found, column);
    // Means are whole nanoseconds here; other tools show whole microseconds in places.
    const bool rounded = std::abs(time - expected) <= 0.00051 ||
                         (expected == std::round(expected) && std::abs(time - expected) <= 0.5);
    differences += compare(row, name, rounded ? expected : time, expected);
  }
  return differences;
}

std::string compare_count(const TruthRow& row, const ReportRow& found, const std::string& key) {
  if (row.expected.find(key) == nullptr) return "";
  return compare(row, key, static_cast<double>(number_in(found, "count")),
                 number_of(row.expected, key));
}

// A number that a row rounds to two digits, or has as 0 where nothing is known.
std::string compare_number(const TruthRow& row, const ReportRow& found, const std::string& key,
                           std::string_view column) {
  if (row.expected.find(key) == nullptr) return "";
  const Cell& cell = cell_in(found, column);
  const double number = std::holds_alternative<double>(cell) ? std::get<double>(cell) : 0;
  const double expected = number_of(row.expected, key);
  const double shown = std::abs(number - expected) <= 0.00501 ? expected : number;
  return compare(row, key, shown, expected);
}

Report kernels_of(const TruthRow& row, const KernelsOptions& options) {
  return kernels_report(run_of(row, {.details = true}), options);
}

std::string name_of(const TruthRow& row) {
  const std::string name = text_of_key(row.expected, "name");
  return name.empty() ? text_of_key(row.expected, "Name") : name;
}

// "[16,1,1]" of "[16, 1, 1]" and of a JSON list; "" of null.
std::string list_text(const oracle::Json* list) {
  return list == nullptr || list->kind != oracle::Json::Kind::array
             ? ""
             : without_spaces(oracle::canonical_text(*list));
}

}  // namespace

std::string check_kernel(const TruthRow& row) {
  for (const ReportRow& found : rows_of(kernels_of(row, {}), "rows")) {
    if (text_in(found, "name") != name_of(row)) continue;
    return compare_count(row, found, "count") + compare_count(row, found, "Calls") +
           compare_times(row, found,
                         {{"sum", "total_ns"},
                          {"mean", "mean_ns"},
                          {"min", "min_ns"},
                          {"max", "max_ns"},
                          {"Total Duration (us)", "total_ns"},
                          {"Mean Duration (us)", "mean_ns"},
                          {"Max Duration (us)", "max_ns"},
                          {"Min Duration (us)", "min_ns"}}) +
           compare_number(row, found, "blocks_per_sm", "blocks_per_sm") +
           compare_number(row, found, "occupancy", "occupancy") +
           compare_number(row, found, "Mean Blocks Per SM", "blocks_per_sm") +
           compare_number(row, found, "Mean Est. Achieved Occupancy (%)", "occupancy");
  }
  return "no such kernel";
}

std::string check_kernel_launch(const TruthRow& row) {
  const Report report = kernels_of(row, {.by_operator = true, .by_launch = true});
  for (const ReportRow& found : rows_of(report, "rows"))
    if (text_in(found, "name") == name_of(row) &&
        text_or_nothing(found, "op") == text_of_key(row.expected, "op") &&
        without_spaces(text_or_nothing(found, "grid")) == list_text(row.expected.find("grid")) &&
        without_spaces(text_or_nothing(found, "block")) == list_text(row.expected.find("block")))
      return compare_count(row, found, "calls") +
             compare_times(row, found,
                           {{"total", "total_ns"}, {"min", "min_ns"}, {"max", "max_ns"}});
  return "no such kernel of that operator and launch configuration";
}

std::string check_kernel_table_size(const TruthRow& row) {
  return compare(row, "rows", static_cast<double>(rows_of(kernels_of(row, {}), "rows").size()),
                 std::stod(row.expected.text));
}

std::string check_operator(const TruthRow& row) {
  for (const ReportRow& found :
       rows_of(ops_report(run_of(row, {.details = true}), {.by_rank = false}), "rows")) {
    if (text_in(found, "name") != name_of(row)) continue;
    return compare_count(row, found, "calls") + compare_times(row, found,
                                                              {{"host_total", "host_total_ns"},
                                                               {"host_self", "host_self_ns"},
                                                               {"device_total", "device_total_ns"},
                                                               {"device_self", "device_self_ns"}});
  }
  return "no such operator";
}

std::string check_operator_table_size(const TruthRow& row) {
  const Report report = ops_report(run_of(row, {.details = true}), {.by_rank = false});
  return compare(row, "rows", static_cast<double>(rows_of(report, "rows").size()),
                 std::stod(row.expected.text));
}

std::string check_collective(const TruthRow& row) {
  const Run& run = run_of(row, {.details = true});
  const std::vector<Collective> all = match_collectives(run).matched;
  const auto index = static_cast<std::size_t>(number_of(row.expected, "index"));
  if (index >= all.size()) return "no such collective";
  const Collective& found = all[index];
  const double gib = 1e9 / std::pow(2, 30);
  std::string differences =
      compare(row, "latency", static_cast<double>(found.latency_ns()) / 1000,
              number_of(row.expected, "comm_latency_us")) +
      compare(row, "skew_in", static_cast<double>(found.skew_in_ns()) / 1000,
              number_of(row.expected, "skew_start_us")) +
      compare(row, "skew_out", static_cast<double>(found.skew_out_ns()) / 1000,
              number_of(row.expected, "skew_end_us")) +
      compare(row, "last", static_cast<double>(run.ranks[found.last(true).rank].rank),
              number_of(row.expected, "last_rank")) +
      compare(row, "algo", found.algo_gbps() * gib, number_of(row.expected, "algo_bw_gib_s")) +
      compare(row, "bus", found.bus_gbps() * gib, number_of(row.expected, "bus_bw_gib_s"));
  if (found.name != text_of_key(row.expected, "name")) differences += "another name; ";
  const oracle::Json* const waits = row.expected.find("wait_us");
  for (std::size_t i = 0; i < found.parts.size(); ++i)
    differences +=
        compare(row, "wait",
                static_cast<double>(found.last(true).start_ns - found.parts[i].start_ns) / 1000,
                std::stod(waits->items.at(i).text));
  return differences;
}

std::string check_implicit_sync(const TruthRow& row) {
  const Report report = comm_report(run_of(row, {.details = true}), {.each = true});
  const std::string id = text_of_key(row.expected, "collective_id");
  const auto index = static_cast<std::size_t>(std::stoul(id.substr(id.find('_') + 1)));
  const ReportRow found = rows_of(report, "collectives").at(index);
  std::string differences = compare_times(row, found,
                                          {{"comm_latency", "latency_ns"},
                                           {"skew in start time", "skew_in_ns"},
                                           {"avg_wait_time", "mean_wait_ns"},
                                           {"skew in end time", "skew_out_ns"}}) +
                            compare_number(row, found, "algo bw (GB/s)", "algo_gibps") +
                            compare_number(row, found, "bus bw (GB/s)", "bus_gibps");
  return text_in(found, "collective") == text_of_key(row.expected, "Collective name")
             ? differences
             : differences + "another name; ";
}

// The first rank is not compared: if several ranks start together, any of them may be first.
std::string check_straggler_summary(const TruthRow& row) {
  const Report report = comm_report(run_of(row, {.details = true}), {.each = false});
  for (const ReportRow& found : rows_of(report, "ranks")) {
    if (static_cast<double>(number_in(found, "rank")) != number_of(row.expected, "rank")) continue;
    return compare_times(row, found,
                         {{"total_wait_time_us", "total_wait_ns"},
                          {"mean_wait_time_us", "mean_wait_ns"},
                          {"total_nccl_dur_us", "total_ns"}}) +
           compare(row, "last", static_cast<double>(number_in(found, "times_last")),
                   number_of(row.expected, "times_arrived_last")) +
           compare(row, "share", share_in(found, "last_share") * 100,
                   number_of(row.expected, "pct_arrived_last")) +
           compare(row, "collectives", static_cast<double>(number_in(found, "collectives")),
                   number_of(row.expected, "num_collectives"));
  }
  return "no such rank";
}

}  // namespace traceloom
