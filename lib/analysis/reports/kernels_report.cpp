#include "analysis/reports/kernels_report.h"

#include "analysis/devices/device_facts.h"
#include "analysis/work/kernel_groups.h"
#include "analysis/work/work_names.h"
#include "output/json_writer.h"
#include "run/event_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace traceloom {
namespace {

double part_of(std::int64_t some, std::int64_t all) {
  return all > 0 ? static_cast<double>(some) / static_cast<double>(all) : 0.0;
}

std::vector<Column> columns_for(const KernelsOptions& options, const KernelGroups& groups) {
  std::vector<Column> columns;
  if (options.by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  if (options.by_stream) {
    columns.push_back({"device", "Device", ColumnKind::count});
    columns.push_back({"stream", "Stream", ColumnKind::count});
  }
  // People do not need a column without any number: AMD's traces have no occupancy.
  const Readers measured = groups.any_measured() ? Readers::few : Readers::programs;
  const std::vector<Column> numbers{
      {"share", "Time %", ColumnKind::share},
      {"total_ns", "Total", ColumnKind::duration},
      {"count", "Count", ColumnKind::count},
      {"mean_ns", "Avg", ColumnKind::duration, Readers::most},
      {"min_ns", "Min", ColumnKind::duration, Readers::few},
      {"p50_ns", "Med", ColumnKind::duration, Readers::some},
      {"p90_ns", "P90", ColumnKind::duration, Readers::few},
      {"p99_ns", "P99", ColumnKind::duration, Readers::some},
      {"max_ns", "Max", ColumnKind::duration, Readers::most},
      {"stddev_ns", "StdDev", ColumnKind::duration, Readers::few},
      {"gpu_share", "GPU %", ColumnKind::share, Readers::programs},
      {"short_count", "Short", ColumnKind::count, Readers::programs},
      {"short_ns", "Short time", ColumnKind::duration, Readers::programs},
      {"blocks_per_sm", "Blocks/SM", ColumnKind::number, measured},
      {"occupancy", "Occup. %", ColumnKind::number, measured},
      {"tensor_core_share", "TC %", ColumnKind::share, Readers::some}};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  if (options.by_type) columns.push_back({"type", "Type", ColumnKind::text});
  if (options.by_launch) {
    columns.push_back({"grid", "Grid", ColumnKind::text});
    columns.push_back({"block", "Block", ColumnKind::text});
    columns.push_back({"registers", "Regs", ColumnKind::count, Readers::most});
    columns.push_back({"shared_memory", "Shared", ColumnKind::count, Readers::most});
  }
  add_argument_columns(columns, options.by_shape, options.by_arguments);
  if (options.by_operator) columns.push_back({"op", "Operator", ColumnKind::text});
  if (groups.any_collective()) columns.push_back({"collective", "Collective", ColumnKind::text});
  if (options.by_name) columns.push_back({"name", "Name", ColumnKind::text});
  return columns;
}

Cell integer_or_nothing(std::string_view details, std::string_view key) {
  const std::optional<std::int64_t> number = find_integer(details, key);
  return number ? Cell{*number} : Cell{};
}

Cell mean_or_nothing(const WeightedMean& mean) {
  return mean.empty() ? Cell{} : Cell{mean.value()};
}

void add_numbers(std::vector<Cell>& cells, const KernelGroup& group, std::int64_t all_ns,
                 std::int64_t devices_ns) {
  const TimeStats& stats = group.stats;
  cells.emplace_back(part_of(stats.total_ns, all_ns));
  for (const std::int64_t number :
       {stats.total_ns, stats.count, stats.mean_ns, stats.min_ns, stats.p50_ns, stats.p90_ns,
        stats.p99_ns, stats.max_ns, stats.stddev_ns})
    cells.emplace_back(number);
  cells.push_back(devices_ns > 0 ? Cell{part_of(stats.total_ns, devices_ns)} : Cell{});
  cells.emplace_back(group.short_count);
  cells.emplace_back(group.short_ns);
  cells.push_back(mean_or_nothing(group.blocks));
  cells.push_back(mean_or_nothing(group.occupancy));
  cells.push_back(share_cell(group.tensor_ns, group.told_ns));
}

std::vector<Cell> cells_of(const KernelGroups& groups, const KernelKey& key,
                           const KernelGroup& group, const KernelsOptions& options) {
  std::vector<Cell> cells;
  if (options.by_rank) cells.emplace_back(key[kKernelRank]);
  if (options.by_stream) {
    cells.emplace_back(key[kKernelDevice]);
    cells.push_back(key[kKernelStream] < 0 ? Cell{} : Cell{key[kKernelStream]});
  }
  add_numbers(cells, group, groups.totals().total_ns, groups.totals().devices_ns);
  if (options.by_type)
    cells.emplace_back(std::string(to_string(static_cast<WorkType>(key[kKernelType]))));
  if (options.by_launch) {
    const std::string_view launch = groups.launch(key);
    cells.push_back(text_or_nothing(find_detail(launch, "grid")));
    cells.push_back(text_or_nothing(find_detail(launch, "block")));
    cells.push_back(integer_or_nothing(launch, "registers per thread"));
    cells.push_back(integer_or_nothing(launch, "shared memory"));
  }
  add_argument_cells(cells, groups.arguments(key), options.by_shape, options.by_arguments);
  if (options.by_operator) cells.push_back(text_or_nothing(groups.op(key)));
  if (groups.any_collective())
    cells.push_back(text_or_nothing(fmt::format("{}", fmt::join(group.collectives, ", "))));
  if (options.by_name) cells.emplace_back(std::string(groups.name(key)));
  return cells;
}

std::string totals_json(const KernelTotals& totals) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kernels");
  json.value(totals.count);
  json.key("total_ns");
  json.value(totals.total_ns);
  json.key("short_share");
  json.value(part_of(totals.short_count, totals.count));
  json.key("short_time_share");
  json.value(part_of(totals.short_ns, totals.total_ns));
  json.key("tensor_core_share");
  totals.told_ns > 0 ? json.value(part_of(totals.tensor_ns, totals.total_ns)) : json.null();
  json.key("tensor_core_unknown_share");
  json.value(part_of(totals.total_ns - totals.told_ns, totals.total_ns));
  json.key("tensor_core_eligible_share");
  json.value(part_of(totals.eligible_ns, totals.total_ns));
  json.key("not_launched_ns");
  json.value(totals.not_launched_ns);
  json.end_object();
  return text;
}

}  // namespace

Report kernels_report(const Run& run, const KernelsOptions& options) {
  KernelGroups groups(run, options);
  std::vector<std::vector<Cell>> rows;
  rows.reserve(groups.size());
  groups.for_each([&](const KernelKey& key, const KernelGroup& group) {
    rows.push_back(cells_of(groups, key, group, options));
  });
  // The order of groups depends on the files; the order of rows must not.
  std::sort(rows.begin(), rows.end());
  Table table(columns_for(options, groups));
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  table.sort_by("total_ns");
  Report report("kernels", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  if (rows.empty()) note_no_devices(run, report, "no kernels to show");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
