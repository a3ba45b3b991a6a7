#include "analysis/devices/device_work.h"
#include "analysis/reports/reports.h"
#include "base/ascii.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace traceloom {
namespace {

using oracle::Json;

double rounded(double value, double digits) {
  return std::round(value * digits) / digits;
}

// Interpolates like pandas' describe(), between the two values around the place.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - std::floor(place));
}

// Against {"count","mean","std","min","25%","50%","75%","max"}.
std::string compare_description(const TruthRow& row, const std::string& what, const Json& expected,
                                std::vector<double> values) {
  const auto key = [&](const char* name) { return what + " " + name; };
  std::string differences =
      compare(row, key("count"), static_cast<double>(values.size()), number_of(expected, "count"));
  if (!differences.empty() || values.empty()) return differences;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  differences += compare(row, key("mean"), mean, number_of(expected, "mean"));
  if (values.size() > 1)
    differences +=
        compare(row, key("std"), std::sqrt(squares / (count - 1)), number_of(expected, "std"));
  for (const auto& [name, share] :
       {std::pair{"min", 0.0}, std::pair{"25%", 0.25}, std::pair{"50%", 0.5},
        std::pair{"75%", 0.75}, std::pair{"max", 1.0}})
    differences += compare(row, key(name), quantile(values, share), number_of(expected, name));
  return differences;
}

// Every key of the row, and none that is not in it.
std::string compare_descriptions(const TruthRow& row,
                                 const std::map<std::string, std::vector<double>>& found) {
  std::string differences;
  for (std::size_t i = 0; i < row.expected.items.size(); ++i) {
    const std::string& name = row.expected.keys[i];
    const auto values = found.find(name);
    if (values == found.end())
      differences += "nothing of " + name + "; ";
    else
      differences += compare_description(row, name, row.expected.items[i], values->second);
  }
  for (const auto& [name, values] : found)
    if (row.expected.find(name) == nullptr) differences += "more: " + name + "; ";
  return differences;
}

}  // namespace

std::string check_hta_idle(const TruthRow& row) {
  const std::vector<ReportRow> rows = rows_of(idle_report(run_of(row), {}), "streams");
  std::map<std::string, std::int64_t> known{{"host_wait", 0}, {"kernel_wait", 0}, {"other", 0}};
  std::string differences;
  std::set<double> streams;
  for (const Json& expected : row.expected.items) {
    const double stream = number_of(expected, "stream");
    streams.insert(stream);
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const ReportRow& candidate) {
      return static_cast<double>(number_in(candidate, "stream")) == stream;
    });
    if (found == rows.end()) return "no such stream; ";
    const std::string kind = text_of_key(expected, "idle_category");
    const std::string key = fmt::format("stream {} {}", stream, kind);
    differences +=
        compare(row, key, us_in(*found, "hta_" + kind + "_ns"), number_of(expected, "idle_time"));
    if (us_in(*found, "idle_ns") > 0)
      differences +=
          compare(row, key + " share",
                  rounded(us_in(*found, "hta_" + kind + "_ns") / us_in(*found, "idle_ns"), 100),
                  number_of(expected, "idle_time_ratio"));
  }
  if (streams.size() != rows.size()) differences += "other streams; ";
  return differences;
}

std::string check_hta_queue(const TruthRow& row) {
  const Run& run = run_of(row);
  std::map<std::string, std::vector<double>> found;
  for (const auto& [key, work] : find_device_work(run.ranks.at(0)).streams) {
    std::vector<double>& lengths = found[fmt::format("stream {}", key.stream)];
    for (const QueueChange& change : find_queue(find_launches(work)))
      lengths.push_back(static_cast<double>(change.length));
  }
  return compare_descriptions(row, found);
}

std::string check_hta_queue_with_ties(const TruthRow& row) {
  const Run& run = run_of(row);
  std::string differences;
  for (const auto& [key, work] : find_device_work(run.ranks.at(0)).streams) {
    const std::string name = fmt::format("stream {}", key.stream);
    const Json* const expected = row.expected.find(name);
    if (expected == nullptr) return "more: " + name + "; ";
    const std::vector<QueueChange> queue = find_queue(find_launches(work));
    // Every pair of a launch and a begin that change places takes 2 from the sum of the lengths.
    double most = 0;
    double least = 0;
    for (std::size_t first = 0; first < queue.size();) {
      std::size_t end = first;
      double launches = 0;
      for (; end < queue.size() && queue[end].at_ns == queue[first].at_ns; ++end) {
        most += static_cast<double>(queue[end].length);
        const std::int64_t before = end == 0 ? 0 : queue[end - 1].length;
        if (queue[end].length > before) ++launches;
      }
      least -= 2 * launches * (static_cast<double>(end - first) - launches);
      first = end;
    }
    const auto count = static_cast<double>(queue.size());
    const double mean = number_of(*expected, "mean");
    differences += compare(row, name + " count", count, number_of(*expected, "count"));
    if (mean > most / count + 1e-9 || mean < (most + least) / count - 1e-9)
      differences += fmt::format("{} mean: {} is not from {} to {}; ", name, mean,
                                 (most + least) / count, most / count);
  }
  return differences;
}

std::string check_hta_bandwidth(const TruthRow& row) {
  const Run& run = run_of(row, {.details = true});
  std::map<std::string, std::vector<double>> found;
  for (const Transfer& transfer : find_transfers(run)) {
    // HTA leaves out what moved nothing.
    if (transfer.gbps && *transfer.gbps > 0)
      found[std::string(transfer.kind)].push_back(*transfer.gbps);
  }
  return compare_descriptions(row, found);
}

// Compares the calls that HTA knows; HTA leaves out launches by other calls.
std::string check_hta_launches(const TruthRow& row) {
  std::map<std::string, double> sums;
  for (const ReportRow& found : rows_of(launch_report(run_of(row), {}), "calls")) {
    const std::string call = text_in(found, "call");
    if (call != "cudaLaunchKernel" && call != "cudaLaunchKernelExC" && call != "cudaMemcpyAsync" &&
        call != "cudaMemsetAsync")
      continue;
    sums["count"] += static_cast<double>(number_in(found, "launches"));
    sums["cpu_duration_sum"] += us_in(found, "call_ns");
    sums["gpu_duration_sum"] += us_in(found, "device_ns");
    sums["launch_delay_sum"] += us_in(found, "delay_ns");
    sums["launch_delay_max"] = std::max(sums["launch_delay_max"], us_in(found, "delay_max_ns"));
    sums["short_kernels"] += static_cast<double>(number_in(found, "short"));
  }
  std::string differences;
  for (const char* const key : {"count", "cpu_duration_sum", "gpu_duration_sum", "launch_delay_sum",
                                "launch_delay_max", "short_kernels"})
    differences += compare(row, key, sums[key], number_of(row.expected, key));
  return differences;
}

std::string check_hta_kernel_types(const TruthRow& row) {
  std::string differences;
  std::map<std::string, const ReportRow*> found;
  const std::vector<ReportRow> rows = rows_of(gpu_report(run_of(row)), "types");
  for (const ReportRow& one : rows) found[text_in(one, "type")] = &one;
  for (std::size_t i = 0; i < row.expected.items.size(); ++i) {
    const std::string type = to_lower(row.expected.keys[i]);
    const auto one = found.find(type);
    const double time = one == found.end() ? 0 : us_in(*one->second, "total_ns");
    const double share = one == found.end() ? 0 : share_in(*one->second, "share");
    differences += compare(row, type, time, number_of(row.expected.items[i], "us")) +
                   compare(row, type + " share", rounded(share * 100, 10),
                           number_of(row.expected.items[i], "pct"));
    found.erase(type);
  }
  for (const auto& [type, one] : found) differences += "more: " + type + "; ";
  return differences;
}

}  // namespace traceloom
