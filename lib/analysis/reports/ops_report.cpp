#include "analysis/reports/ops_report.h"

#include "analysis/numbers.h"
#include "analysis/work/kernel_groups.h"
#include "analysis/work/op_groups.h"
#include "analysis/work/work_names.h"
#include "output/json_writer.h"

#include <algorithm>

namespace traceloom {
namespace {

std::vector<Column> columns_for(const OpsOptions& options, bool has_devices) {
  std::vector<Column> columns;
  if (options.by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  if (options.by_thread) columns.push_back({"thread", "Thread", ColumnKind::text});
  // People do not need columns that are 0 everywhere.
  const auto if_devices = [&](Readers with, Readers without) {
    return has_devices ? with : without;
  };
  const Readers device = if_devices(Readers::all, Readers::programs);
  const Readers device_more = if_devices(Readers::some, Readers::programs);
  const std::vector<Column> numbers{
      {"count", "Count", ColumnKind::count},
      {"launchers", "Launchers", ColumnKind::count, Readers::programs},
      {"device_share", "Device %", ColumnKind::share, device},
      {"device_self_ns", "Device self", ColumnKind::duration, device},
      {"device_total_ns", "Device total", ColumnKind::duration,
       if_devices(Readers::most, Readers::programs)},
      {"device_mean_ns", "Device avg", ColumnKind::duration,
       if_devices(Readers::few, Readers::programs)},
      {"device_p50_ns", "Device med", ColumnKind::duration, Readers::programs},
      {"device_p90_ns", "Device P90", ColumnKind::duration, Readers::programs},
      {"device_p99_ns", "Device P99", ColumnKind::duration, Readers::programs},
      {"device_max_ns", "Device max", ColumnKind::duration, Readers::programs},
      {"host_share", "Host %", ColumnKind::share, if_devices(Readers::programs, Readers::all)},
      {"host_self_ns", "Host self", ColumnKind::duration, if_devices(Readers::most, Readers::all)},
      {"host_total_ns", "Host total", ColumnKind::duration,
       if_devices(Readers::some, Readers::most)},
      {"host_mean_ns", "Avg", ColumnKind::duration, if_devices(Readers::few, Readers::most)},
      {"host_min_ns", "Min", ColumnKind::duration, Readers::programs},
      {"host_p50_ns", "Med", ColumnKind::duration, Readers::some},
      {"host_p90_ns", "P90", ColumnKind::duration, Readers::programs},
      {"host_p99_ns", "P99", ColumnKind::duration, Readers::few},
      {"host_max_ns", "Max", ColumnKind::duration, if_devices(Readers::few, Readers::some)},
      {"tensor_core_eligible", "TC eligible", ColumnKind::count, Readers::programs},
      {"tensor_core_self_share", "TC self %", ColumnKind::share, Readers::programs},
      {"tensor_core_total_share", "TC %", ColumnKind::share, device_more}};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  if (options.by_type) columns.push_back({"type", "Type", ColumnKind::text});
  add_argument_columns(columns, options.by_shape, options.by_arguments);
  if (options.by_name) columns.push_back({"name", "Name", ColumnKind::text});
  return columns;
}

void add_numbers(std::vector<Cell>& cells, const OpGroup& group, const OpTotals& totals) {
  const TimeStats& host = group.host;
  const TimeStats& device = group.device;
  cells.emplace_back(host.count);
  cells.emplace_back(device.count);
  cells.push_back(share_cell(group.device_self_ns, totals.device_self_ns));
  for (const std::int64_t ns : {group.device_self_ns, group.device_total_ns, device.mean_ns,
                                device.p50_ns, device.p90_ns, device.p99_ns, device.max_ns})
    cells.emplace_back(ns);
  cells.push_back(share_cell(group.host_self_ns, totals.host_self_ns));
  for (const std::int64_t ns : {group.host_self_ns, host.total_ns, host.mean_ns, host.min_ns,
                                host.p50_ns, host.p90_ns, host.p99_ns, host.max_ns})
    cells.emplace_back(ns);
  cells.emplace_back(group.eligible);
  cells.push_back(share_cell(group.tensor_self_ns, group.kernel_self_ns));
  cells.push_back(share_cell(group.tensor_total_ns, group.kernel_total_ns));
}

std::vector<Cell> cells_of(const OpGroups& groups, const OpKey& key, const OpGroup& group,
                           const OpsOptions& options) {
  std::vector<Cell> cells;
  if (options.by_rank) cells.emplace_back(key[kOpRank]);
  if (options.by_thread) cells.push_back(text_or_nothing(groups.thread(key)));
  add_numbers(cells, group, groups.totals());
  if (options.by_type)
    cells.emplace_back(std::string(to_string(static_cast<WorkType>(key[kOpType]))));
  add_argument_cells(cells, groups.arguments(key), options.by_shape, options.by_arguments);
  if (options.by_name) cells.emplace_back(std::string(groups.name(key)));
  return cells;
}

std::string totals_json(const OpTotals& totals) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("host_self_ns");
  json.value(totals.host_self_ns);
  json.key("device_self_ns");
  json.value(totals.device_self_ns);
  json.key("not_launched_ns");
  json.value(totals.not_launched_ns);
  json.key("tensor_core_eligible_share");
  json.value(totals.kernel_ns > 0
                 ? static_cast<double>(totals.eligible_ns) / static_cast<double>(totals.kernel_ns)
                 : 0.0);
  json.end_object();
  return text;
}

void add_notes(Report& report, const OpTotals& totals, bool any) {
  if (!any)
    report.notes.emplace_back("no operators in these traces (category cpu_op)");
  else if (totals.device_self_ns == 0)
    report.notes.emplace_back("no device activity that an operator launched: host times only");
  if (any && totals.device_self_ns > 0 && totals.not_launched_ns > 0)
    report.notes.push_back(format_duration(totals.not_launched_ns) +
                           " of device work was launched by no operator that was recorded");
}

}  // namespace

Report ops_report(const Run& run, const OpsOptions& options) {
  OpGroups groups(run, options);
  std::vector<std::vector<Cell>> rows;
  rows.reserve(groups.size());
  groups.for_each([&](const OpKey& key, const OpGroup& group) {
    rows.push_back(cells_of(groups, key, group, options));
  });
  // The order of groups depends on the files; the order of rows must not.
  std::sort(rows.begin(), rows.end());
  const bool has_devices = groups.totals().device_self_ns > 0;
  Table table(columns_for(options, has_devices));
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  table.sort_by(has_devices ? "device_self_ns" : "host_self_ns");
  Report report("ops", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  add_notes(report, groups.totals(), !rows.empty());
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
