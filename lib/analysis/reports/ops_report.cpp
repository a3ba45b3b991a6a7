#include "analysis/reports/ops_report.h"

#include "analysis/numbers.h"
#include "analysis/work/kernel_groups.h"
#include "analysis/work/op_groups.h"
#include "analysis/work/work_names.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <string_view>

namespace traceloom {
namespace {

struct OpRow : OpGroup {
  OpKey key;
  std::string_view arguments;  // for find_detail()
};

ColumnsOf<OpRow> columns_for(const OpsOptions& by, const OpGroups& groups) {
  using enum ColumnKind;
  using enum Readers;
  using Row = OpRow;
  const OpTotals& totals = groups.totals();
  // People do not need columns that are 0 everywhere.
  const auto if_devices = [&](Readers with, Readers without) {
    return totals.device_self_ns > 0 ? with : without;
  };
  return {
      {"rank", "Rank", count, by.by_rank, [](auto& of) { return of.key[kOpRank]; }},
      {"thread", "Thread", text, by.by_thread,
       [&](auto& of) { return text_or_nothing(groups.thread(of.key)); }},
      {"count", "Count", count, path(&Row::host, &TimeStats::count)},
      {"launchers", "Launchers", count, programs, path(&Row::device, &TimeStats::count)},
      {"device_share", "Device %", share, if_devices(all, programs),
       [&](auto& of) { return share_cell(of.device_self_ns, totals.device_self_ns); }},
      {"device_self_ns", "Device self", duration, if_devices(all, programs), &Row::device_self_ns},
      {"device_total_ns", "Device total", duration, if_devices(most, programs),
       &Row::device_total_ns},
      {"device_mean_ns", "Device avg", duration, if_devices(few, programs),
       path(&Row::device, &TimeStats::mean_ns)},
      {"device_p50_ns", "Device med", duration, programs, path(&Row::device, &TimeStats::p50_ns)},
      {"device_p90_ns", "Device P90", duration, programs, path(&Row::device, &TimeStats::p90_ns)},
      {"device_p99_ns", "Device P99", duration, programs, path(&Row::device, &TimeStats::p99_ns)},
      {"device_max_ns", "Device max", duration, programs, path(&Row::device, &TimeStats::max_ns)},
      {"host_share", "Host %", share, if_devices(programs, all),
       [&](auto& of) { return share_cell(of.host_self_ns, totals.host_self_ns); }},
      {"host_self_ns", "Host self", duration, if_devices(most, all), &Row::host_self_ns},
      {"host_total_ns", "Host total", duration, if_devices(some, most),
       path(&Row::host, &TimeStats::total_ns)},
      {"host_mean_ns", "Avg", duration, if_devices(few, most),
       path(&Row::host, &TimeStats::mean_ns)},
      {"host_min_ns", "Min", duration, programs, path(&Row::host, &TimeStats::min_ns)},
      {"host_p50_ns", "Med", duration, some, path(&Row::host, &TimeStats::p50_ns)},
      {"host_p90_ns", "P90", duration, programs, path(&Row::host, &TimeStats::p90_ns)},
      {"host_p99_ns", "P99", duration, few, path(&Row::host, &TimeStats::p99_ns)},
      {"host_max_ns", "Max", duration, if_devices(few, some), path(&Row::host, &TimeStats::max_ns)},
      {"tensor_core_eligible", "TC eligible", count, programs, &Row::eligible},
      {"tensor_core_self_share", "TC self %", share, programs,
       share_of(&Row::tensor_self_ns, &Row::kernel_self_ns)},
      {"tensor_core_total_share", "TC %", share, if_devices(some, programs),
       share_of(&Row::tensor_total_ns, &Row::kernel_total_ns)},
      {"type", "Type", text, by.by_type,
       [](auto& of) { return to_string(static_cast<WorkType>(of.key[kOpType])); }},
      {"shape", "Shape", text, by.by_shape || by.by_arguments,
       [](auto& of) { return text_or_nothing(find_shape(of.arguments)); }},
      {"types", "Types", text, by.by_arguments, detail_of(&Row::arguments, "Input type")},
      {"strides", "Strides", text, by.by_arguments, detail_of(&Row::arguments, "Input Strides")},
      {"inputs", "Inputs", text, by.by_arguments, detail_of(&Row::arguments, "Concrete Inputs")},
      {"name", "Name", text, by.by_name, [&](auto& of) { return groups.name(of.key); }},
  };
}

std::string totals_json(const OpTotals& totals) {
  return json_object([&](JsonWriter& json) {
    json.member("host_self_ns", totals.host_self_ns);
    json.member("device_self_ns", totals.device_self_ns);
    json.member("not_launched_ns", totals.not_launched_ns);
    json.member("tensor_core_eligible_share", ratio(totals.eligible_ns, totals.kernel_ns));
  });
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
  const ColumnsOf<OpRow> columns = columns_for(options, groups);
  Table table = empty_table(columns);
  groups.for_each([&](const OpKey& key, const OpGroup& group) {
    add_row(table, columns, {group, key, groups.arguments(key)});
  });
  // The order of groups depends on the files; the order of rows must not.
  table.sort_rows();
  table.sort_by(groups.totals().device_self_ns > 0 ? "device_self_ns" : "host_self_ns");
  Report report("ops", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  add_notes(report, groups.totals(), !table.rows().empty());
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
