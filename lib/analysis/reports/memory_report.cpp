#include "analysis/reports/memory_report.h"

#include "analysis/memory/counter_series.h"
#include "analysis/memory/device_memory.h"
#include "analysis/numbers.h"
#include "analysis/reports/operator_memory.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kSparks = 24;
constexpr std::string_view kSparkLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kLeastSteps = 3;  // fewer steps prove no growth

template <typename T>
Cell maybe(const std::optional<T>& value) {
  if (!value) return {};
  return *value;
}
Cell text_or_nothing(std::string_view text) {
  if (text.empty()) return {};
  return std::string(text);
}

// Returns the highest point of each of `count` equal parts of the curve's time.
std::vector<MemoryPoint> highest_points(const DeviceMemory& device, std::size_t count) {
  const std::int64_t from_ns = device.curve.front().at_ns;
  const std::int64_t length_ns = device.curve.back().at_ns - from_ns;
  std::vector<MemoryPoint> points;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(count);
    const auto end_ns = i + 1 == count
                            ? device.curve.back().at_ns
                            : from_ns + std::llround(share * static_cast<double>(length_ns));
    // The memory at the begin of the part counts, too.
    MemoryPoint highest = device.curve[next == 0 ? 0 : next - 1];
    highest.at_ns = from_ns + std::llround(static_cast<double>(i) / static_cast<double>(count) *
                                           static_cast<double>(length_ns));
    for (; next < device.curve.size() && device.curve[next].at_ns <= end_ns; ++next) {
      highest.allocated = std::max(highest.allocated, device.curve[next].allocated);
      highest.reserved = std::max(highest.reserved, device.curve[next].reserved);
    }
    points.push_back(highest);
  }
  return points;
}

// Draws from 0, or from the lowest point if totals are relative, to the peak.
std::string sparks_of(const DeviceMemory& device) {
  const std::vector<MemoryPoint> points = highest_points(device, kSparks);
  std::int64_t least = 0;
  for (const MemoryPoint& point : points) least = std::min(least, point.allocated);
  const auto height = static_cast<double>(device.peak().allocated - least);
  std::string text;
  for (const MemoryPoint& point : points) {
    const double share = height > 0 ? static_cast<double>(point.allocated - least) / height : 0;
    text += kSparkLevels[static_cast<std::size_t>(std::min(7.0, share * 8))];
  }
  return text;
}

Table device_table(const std::vector<DeviceMemory>& devices) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"device", "Device", ColumnKind::text},
               {"allocations", "Allocs", ColumnKind::count, Readers::some},
               {"frees", "Frees", ColumnKind::count, Readers::few},
               {"start_bytes", "Start", ColumnKind::bytes, Readers::few},
               {"peak_bytes", "Peak", ColumnKind::bytes},
               {"mean_bytes", "Mean", ColumnKind::bytes, Readers::few},
               {"end_bytes", "End", ColumnKind::bytes, Readers::most},
               {"reserved_peak_bytes", "Reserved", ColumnKind::bytes, Readers::some},
               {"unfreed_bytes", "Unfreed", ColumnKind::bytes, Readers::some},
               {"growth_bytes_per_step", "Growth/step", ColumnKind::bytes, Readers::most},
               {"peak_at_ns", "Peak at", ColumnKind::duration, Readers::few},
               {"peak_step", "In step", ColumnKind::count, Readers::some},
               {"curve", "Curve", ColumnKind::text, Readers::some},
               {"peak_op", "Operator at peak", ColumnKind::text, Readers::most}});
  for (const DeviceMemory& device : devices) {
    std::int64_t unfreed = 0;
    for (const auto& [name, memory] : device.operators) unfreed += memory.unfreed;
    table.add_row({device.rank, device.name(), device.allocations, device.frees,
                   device.curve.front().allocated, device.peak().allocated, device.mean(),
                   device.curve.back().allocated, told(device.reserved_peak()),
                   told(device.has_addresses ? unfreed : kNotGiven), maybe(device.growth_per_step),
                   device.peak().at_ns, maybe(device.peak_step), sparks_of(device),
                   text_or_nothing(device.peak_operator)});
  }
  return table;
}

Table curve_table(const std::vector<DeviceMemory>& devices, std::size_t count) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"device", "Device", ColumnKind::text},
               {"at_ns", "From", ColumnKind::duration},
               {"allocated_bytes", "Allocated", ColumnKind::bytes},
               {"reserved_bytes", "Reserved", ColumnKind::bytes}});
  for (const DeviceMemory& device : devices)
    for (const MemoryPoint& point : highest_points(device, count))
      table.add_row(
          {device.rank, device.name(), point.at_ns, point.allocated, told(point.reserved)});
  return table;
}

std::optional<double> growth_of(const RankEvents& rank, const CounterSeries& series) {
  if (rank.steps.kind == StepKind::none) return std::nullopt;
  std::vector<std::pair<double, double>> at_ends;
  for (const Step& step : rank.steps.list) {
    const auto after = std::upper_bound(
        series.values.begin(), series.values.end(), step.time.to_ns,
        [](std::int64_t at_ns, const CounterValue& value) { return at_ns < value.at_ns; });
    if (step.counted && after != series.values.begin())
      at_ends.emplace_back(at_ends.size(), (after - 1)->value);
  }
  return at_ends.size() < kLeastSteps ? std::nullopt : slope_of(at_ends);
}

// True for memory that a counter measured and that is not always 0.
bool is_memory(const CounterSeries& series, bool all) {
  return series.name.starts_with("memory") && !series.is_rate && !series.values.empty() &&
         (all || std::any_of(series.values.begin(), series.values.end(),
                             [](const CounterValue& value) { return value.value != 0; }));
}

void add_counter(const RankEvents& rank, const CounterSeries& series, bool processes,
                 Table& table) {
  double least = series.values.front().value;
  double most = least;
  double sum = 0;
  for (const CounterValue& value : series.values) {
    least = std::min(least, value.value);
    most = std::max(most, value.value);
    sum += value.value;
  }
  const auto count = static_cast<std::int64_t>(series.values.size());
  std::vector<Cell> cells;
  cells.emplace_back(rank.rank);
  cells.emplace_back(series.name);
  if (processes) cells.push_back(text_or_nothing(series.process));
  cells.push_back(unit_cell(series.unit));
  cells.emplace_back(count);
  for (const double value : {series.values.front().value, least, sum / static_cast<double>(count),
                             most, series.values.back().value})
    cells.emplace_back(value);
  cells.push_back(maybe(growth_of(rank, series)));
  table.add_row(std::move(cells));
}

Table host_table(const Run& run, bool all) {
  std::vector<std::pair<const RankEvents*, CounterSeries>> found;
  bool processes = false;
  using Counters = std::vector<CounterSeries>;
  const auto find = [&](std::size_t rank) { return find_counters(run, run.ranks[rank]); };
  for_each_rank<Counters>(run, all_ranks(run), find, [&](std::size_t rank, Counters counters) {
    for (CounterSeries& series : counters) {
      if (!is_memory(series, all)) continue;
      processes |= !series.process.empty();
      found.emplace_back(&run.ranks[rank], std::move(series));
    }
  });
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count},
                              {"counter", "Counter", ColumnKind::text}};
  if (processes) columns.push_back({"process", "Process", ColumnKind::text, Readers::most});
  const std::vector<Column> rest{
      {"unit", "Unit", ColumnKind::text, Readers::few},
      {"samples", "Samples", ColumnKind::count, Readers::some},
      {"start", "Start", ColumnKind::quantity, Readers::most},
      {"least", "Least", ColumnKind::quantity, Readers::some},
      {"mean", "Mean", ColumnKind::quantity, Readers::some},
      {"most", "Most", ColumnKind::quantity},
      {"end", "End", ColumnKind::quantity},
      {"growth_per_step", "Growth/step", ColumnKind::quantity, Readers::most}};
  columns.insert(columns.end(), rest.begin(), rest.end());
  Table table(columns);
  for (const auto& [rank, series] : found) add_counter(*rank, series, processes, table);
  return table;
}

Table function_table(const std::vector<MemoryStatsFile>& stats, const MemoryOptions& options) {
  std::vector<Column> columns{{"function", "Function", ColumnKind::text},
                              {"value", "Value", ColumnKind::text}};
  if (options.by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  const std::vector<Column> rest{
      {"unit", "Unit", ColumnKind::text, Readers::few},
      {"ranks", "Ranks", ColumnKind::count, Readers::few},
      {"iterations", "Iters", ColumnKind::count, Readers::some},
      {"start", "Start", ColumnKind::quantity, Readers::most},
      {"end", "End", ColumnKind::quantity},
      {"difference", "Difference", ColumnKind::quantity},
      {"least", "Least", ColumnKind::quantity, Readers::some},
      {"most", "Most", ColumnKind::quantity, Readers::most},
      {"most_rank", "Of rank", ColumnKind::count, Readers::some},
      {"growth_per_step", "Growth/step", ColumnKind::quantity, Readers::most}};
  columns.insert(columns.end(), rest.begin(), rest.end());
  Table table(columns);
  for (const MemoryStatsRow& row :
       compare_memory_stats(stats, {options.by_rank, options.all_values})) {
    const QuantityUnit unit = is_bytes_value(row.value) ? QuantityUnit::bytes : QuantityUnit::none;
    std::vector<Cell> cells;
    cells.emplace_back(row.function);
    cells.emplace_back(row.value);
    if (options.by_rank) cells.push_back(maybe(row.rank));
    cells.push_back(unit_cell(unit));
    cells.emplace_back(row.ranks);
    cells.emplace_back(row.iterations);
    cells.push_back(maybe(row.start));
    cells.push_back(maybe(row.end));
    cells.push_back(maybe(row.difference));
    cells.emplace_back(row.least);
    cells.emplace_back(row.most);
    cells.emplace_back(row.most_rank);
    cells.push_back(maybe(row.growth));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string files_json(const std::vector<MemoryStatsFile>& stats) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const MemoryStatsFile& file : stats) {
    json.begin_object();
    json.key("path");
    json.value(file.path);
    json.key("snapshots");
    json.value(file.snapshots.size());
    json.key("left_out");
    json.value(file.left_out);
    json.end_object();
  }
  json.end_array();
  return text;
}

// Names the highest peak of a device, or that of the host if there is no device.
void add_headline(const std::vector<DeviceMemory>& devices, Report& report) {
  const DeviceMemory* highest = nullptr;
  for (const DeviceMemory& device : devices) {
    const auto weight = [](const DeviceMemory& one) {
      return std::pair{one.type != 0, one.peak().allocated};
    };
    if (highest == nullptr || weight(device) > weight(*highest)) highest = &device;
  }
  if (highest == nullptr || highest->peak().allocated <= 0) return;
  std::string text =
      fmt::format("Rank {}: {} peaks at {}{}", highest->rank, highest->name(),
                  format_bytes(static_cast<std::uint64_t>(highest->peak().allocated)),
                  highest->is_relative ? " more than at the start of the trace" : "");
  if (highest->peak_step) text += fmt::format(", in step {}", *highest->peak_step);
  if (!highest->peak_operator.empty())
    text += fmt::format(", while {} ran", highest->peak_operator);
  report.headline.push_back(text + ".");
}

void add_notes(const Run& run, const std::vector<DeviceMemory>& devices, bool any_counter,
               const std::vector<MemoryStatsFile>& stats, Report& report) {
  if (devices.empty() && !run.files.empty())
    report.notes.emplace_back(
        "no \"[memory]\" events in these traces: torch.profiler writes them with profile_memory");
  const auto any = [&](auto is) { return std::any_of(devices.begin(), devices.end(), is); };
  if (any([](const DeviceMemory& device) { return device.is_relative; }))
    report.notes.emplace_back(
        "the events have no totals (Total Allocated): counted from 0 where the trace begins");
  if (any([](const DeviceMemory& device) { return !device.has_addresses; }))
    report.notes.emplace_back(
        "the events have no addresses (Addr): it is not known who freed what and who held the "
        "peak");
  if (!any_counter && !run.files.empty())
    report.notes.emplace_back("no counters of memory in these traces");
  for (const MemoryStatsFile& file : stats) {
    if (file.is_cut)
      report.notes.push_back(
          fmt::format("{}: the file is cut; its last line was left out", file.path));
    const std::uint64_t odd = file.left_out - (file.is_cut ? 1 : 0);
    if (odd > 0)
      report.notes.push_back(fmt::format(
          "{}: {} entries left out: a key of another form, or a value that is no number", file.path,
          odd));
  }
}

}  // namespace

Report memory_report(const Run& run, const std::vector<MemoryStatsFile>& stats,
                     const MemoryOptions& options) {
  const std::vector<DeviceMemory> devices = find_device_memory(run);
  Report report("memory", run);
  report.values.emplace_back("stats_files", files_json(stats));
  Table host = host_table(run, options.all_values);
  const bool any_counter = !host.rows().empty();
  add_headline(devices, report);
  add_notes(run, devices, any_counter, stats, report);
  report.tables.push_back({"rows", "", device_table(devices)});
  append_operator_tables(devices, options, report);
  if (options.curve > 0)
    report.tables.push_back({"curve", "Curves: the highest from each moment to the next",
                             curve_table(devices, options.curve)});
  report.tables.push_back({"host", "Counters of memory", std::move(host)});
  report.tables.push_back(
      {"functions", "Memory stats of functions, means over ranks", function_table(stats, options)});
  // The first table that has rows comes first, because CSV, --sort and --top use the first table.
  for (const std::string_view key : {"host", "functions"}) {
    if (!report.tables.front().table.rows().empty()) break;
    const auto found = std::find_if(report.tables.begin(), report.tables.end(),
                                    [&](const ReportTable& part) { return part.key == key; });
    if (!found->table.rows().empty()) std::rotate(report.tables.begin(), found, found + 1);
  }
  return report;
}

}  // namespace traceloom
