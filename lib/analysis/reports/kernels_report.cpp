#include "analysis/reports/kernels_report.h"

#include "analysis/devices/device_facts.h"
#include "analysis/work/kernel_groups.h"
#include "analysis/work/work_names.h"
#include "output/json_writer.h"
#include "run/event_columns.h"
#include "table/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace traceloom {
namespace {

struct KernelRow : KernelGroup {
  KernelKey key;
  std::string_view launch;  // these two for find_detail()
  std::string_view arguments;
};

Cell mean_or_nothing(const WeightedMean& mean) {
  return mean.empty() ? Cell{} : Cell{mean.value()};
}

ColumnsOf<KernelRow> columns_for(const KernelsOptions& by, const KernelGroups& groups) {
  using enum ColumnKind;
  using enum Readers;
  using Row = KernelRow;
  const KernelTotals& totals = groups.totals();
  // People do not need a column without any number: AMD's traces have no occupancy.
  const Readers measured = totals.any_measured ? few : programs;
  return {
      {"rank", "Rank", count, by.by_rank, [](auto& of) { return of.key[kKernelRank]; }},
      {"device", "Device", count, by.by_stream, [](auto& of) { return of.key[kKernelDevice]; }},
      {"stream", "Stream", count, by.by_stream,
       [](auto& of) { return cell_if(of.key[kKernelStream] >= 0, of.key[kKernelStream]); }},
      {"share", "Time %", share,
       [&](auto& of) { return ratio(of.stats.total_ns, totals.total_ns); }},
      {"total_ns", "Total", duration, path(&Row::stats, &TimeStats::total_ns)},
      {"count", "Count", count, path(&Row::stats, &TimeStats::count)},
      {"mean_ns", "Avg", duration, most, path(&Row::stats, &TimeStats::mean_ns)},
      {"min_ns", "Min", duration, few, path(&Row::stats, &TimeStats::min_ns)},
      {"p50_ns", "Med", duration, some, path(&Row::stats, &TimeStats::p50_ns)},
      {"p90_ns", "P90", duration, few, path(&Row::stats, &TimeStats::p90_ns)},
      {"p99_ns", "P99", duration, some, path(&Row::stats, &TimeStats::p99_ns)},
      {"max_ns", "Max", duration, most, path(&Row::stats, &TimeStats::max_ns)},
      {"stddev_ns", "StdDev", duration, few, path(&Row::stats, &TimeStats::stddev_ns)},
      {"gpu_share", "GPU %", share, programs,
       [&](auto& of) { return share_cell(of.stats.total_ns, totals.devices_ns); }},
      {"short_count", "Short", count, programs, &Row::short_count},
      {"short_ns", "Short time", duration, programs, &Row::short_ns},
      {"blocks_per_sm", "Blocks/SM", number, measured,
       [](auto& of) { return mean_or_nothing(of.blocks); }},
      {"occupancy", "Occup. %", number, measured,
       [](auto& of) { return mean_or_nothing(of.occupancy); }},
      {"tensor_core_share", "TC %", share, some, share_of(&Row::tensor_ns, &Row::told_ns)},
      {"type", "Type", text, by.by_type,
       [](auto& of) { return to_string(static_cast<WorkType>(of.key[kKernelType])); }},
      {"grid", "Grid", text, by.by_launch, detail_of(&Row::launch, "grid")},
      {"block", "Block", text, by.by_launch, detail_of(&Row::launch, "block")},
      {"registers", "Regs", count, most, by.by_launch,
       [](auto& of) { return find_integer(of.launch, "registers per thread"); }},
      {"shared_memory", "Shared", count, most, by.by_launch,
       [](auto& of) { return find_integer(of.launch, "shared memory"); }},
      {"shape", "Shape", text, by.by_shape || by.by_arguments,
       [](auto& of) { return text_or_nothing(find_shape(of.arguments)); }},
      {"types", "Types", text, by.by_arguments, detail_of(&Row::arguments, "Input type")},
      {"strides", "Strides", text, by.by_arguments, detail_of(&Row::arguments, "Input Strides")},
      {"inputs", "Inputs", text, by.by_arguments, detail_of(&Row::arguments, "Concrete Inputs")},
      {"op", "Operator", text, by.by_operator,
       [&](auto& of) { return text_or_nothing(groups.op(of.key)); }},
      {"collective", "Collective", text, totals.any_collective,
       [](auto& of) {
         return text_or_nothing(fmt::format("{}", fmt::join(of.collectives, ", ")));
       }},
      {"name", "Name", text, by.by_name, [&](auto& of) { return groups.name(of.key); }},
  };
}

std::string totals_json(const KernelTotals& totals) {
  return json_object([&](JsonWriter& json) {
    json.member("kernels", totals.count);
    json.member("total_ns", totals.total_ns);
    json.member("short_share", ratio(totals.short_count, totals.count));
    json.member("short_time_share", ratio(totals.short_ns, totals.total_ns));
    json.member("tensor_core_share", totals.told_ns > 0
                                         ? std::optional(ratio(totals.tensor_ns, totals.total_ns))
                                         : std::nullopt);
    json.member("tensor_core_unknown_share",
                ratio(totals.total_ns - totals.told_ns, totals.total_ns));
    json.member("tensor_core_eligible_share", ratio(totals.eligible_ns, totals.total_ns));
    json.member("not_launched_ns", totals.not_launched_ns);
  });
}

}  // namespace

Report kernels_report(const Run& run, const KernelsOptions& options) {
  KernelGroups groups(run, options);
  const ColumnsOf<KernelRow> columns = columns_for(options, groups);
  Table table = empty_table(columns);
  groups.for_each([&](const KernelKey& key, const KernelGroup& group) {
    add_row(table, columns, {group, key, groups.launch(key), groups.arguments(key)});
  });
  // The order of groups depends on the files; the order of rows must not.
  table.sort_rows();
  table.sort_by("total_ns");
  Report report("kernels", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  if (table.rows().empty()) note_no_devices(run, report, "no kernels to show");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
