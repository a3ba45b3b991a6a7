#include "analysis/memory/counter_series.h"
#include "analysis/memory/device_memory.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kSparks = 24;
constexpr std::string_view kSparkLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kBefore = "(before the trace)";

using Amount = std::int64_t OperatorMemory::*;

// The rank (0 unless rows are by rank), type and number of a device.
using DeviceKey = std::tuple<std::int64_t, std::int32_t, std::int64_t>;

struct DeviceOperators {
  std::map<std::string, OperatorMemory> by_name;
  std::int64_t peak = 0;  // sum over the ranks, each at its own time
};

void add(const OperatorMemory& more, OperatorMemory& sum) {
  for (const Amount amount :
       {&OperatorMemory::calls, &OperatorMemory::self_increase, &OperatorMemory::self_alloc,
        &OperatorMemory::self_count, &OperatorMemory::increase, &OperatorMemory::alloc,
        &OperatorMemory::count, &OperatorMemory::at_peak, &OperatorMemory::at_peak_count,
        &OperatorMemory::unfreed, &OperatorMemory::unfreed_count})
    sum.*amount += more.*amount;
  sum.unfreed_steps = std::max(sum.unfreed_steps, more.unfreed_steps);
}

std::map<DeviceKey, DeviceOperators> gather_operators(const std::vector<DeviceMemory>& devices,
                                                      bool by_rank) {
  std::map<DeviceKey, DeviceOperators> found;
  for (const DeviceMemory& device : devices) {
    DeviceOperators& all = found[{by_rank ? device.rank : 0, device.type, device.device}];
    std::int64_t known = 0;
    for (const auto& [name, memory] : device.operators) {
      add(memory, all.by_name[std::string(name)]);
      known += memory.at_peak;
    }
    all.peak += device.peak().allocated;
    const std::int64_t before = device.peak().allocated - known;
    if (device.has_addresses && !device.is_relative && before > 0)
      all.by_name[std::string(kBefore)].at_peak += before;
  }
  return found;
}

struct NamedMemory {
  std::string name;
  OperatorMemory memory;
};

bool is_any(const OperatorMemory& memory, Amount amount) {
  if (amount != &OperatorMemory::self_alloc) return memory.*amount != 0;
  return memory.self_alloc != 0 || memory.alloc != 0 || memory.self_increase != 0 ||
         memory.increase != 0;
}

// Returns the operators with any `amount`, the largest first, and those after the first `count` as
// one. Totals cannot be added, because nested operators share them.
std::vector<NamedMemory> most_of(const DeviceOperators& all, Amount amount, std::size_t count) {
  std::vector<NamedMemory> found;
  for (const auto& [name, memory] : all.by_name)
    if (is_any(memory, amount)) found.push_back({name, memory});
  std::stable_sort(found.begin(), found.end(), [&](const NamedMemory& a, const NamedMemory& b) {
    return std::pair{a.memory.*amount, a.memory.alloc} >
           std::pair{b.memory.*amount, b.memory.alloc};
  });
  if (count == 0 || found.size() <= count + 1) return found;
  NamedMemory others{fmt::format("({} others)", found.size() - count), {}};
  for (std::size_t i = count; i < found.size(); ++i) add(found[i].memory, others.memory);
  others.memory.alloc = others.memory.count = others.memory.increase = kNotGiven;
  found.resize(count);
  found.push_back(std::move(others));
  return found;
}

struct OperatorRow {
  const DeviceKey& key;
  std::int64_t peak = 0;  // of the device
  const NamedMemory& named;
};

// Returns an empty cell for kNotGiven.
Cell told(std::int64_t bytes) {
  return cell_if(bytes != kNotGiven, bytes);
}

// Returns the value of a column: an amount of the operator.
auto told_of(Amount amount) {
  return [amount](const OperatorRow& of) { return told(of.named.memory.*amount); };
}

using OperatorDevices = std::map<DeviceKey, DeviceOperators>;

// Makes a table of rank and device, the columns given, and the name. Each device has its first
// MemoryOptions::operators rows by `order`, and one row for all others.
Table operator_table(const OperatorDevices& devices, const MemoryOptions& options, Amount order,
                     ColumnsOf<OperatorRow> amounts) {
  using enum ColumnKind;
  using Row = OperatorRow;
  ColumnsOf<Row> columns{
      {"rank", "Rank", count, options.by_rank, [](auto& of) { return std::get<0>(of.key); }},
      {"device", "Device", text,
       [](auto& of) { return memory_device_name(std::get<1>(of.key), std::get<2>(of.key)); }},
  };
  columns.insert(columns.end(), amounts.begin(), amounts.end());
  columns.push_back({"name", "Operator", text, [](auto& of) { return of.named.name; }});
  Table table = empty_table(columns);
  for (const auto& [key, all] : devices)
    for (const NamedMemory& named : most_of(all, order, options.operators))
      add_row(table, columns, {key, all.peak, named});
  return table;
}

Table allocators_table(const OperatorDevices& devices, const MemoryOptions& options) {
  using enum ColumnKind;
  using enum Readers;
  using Memory = OperatorMemory;
  return operator_table(
      devices, options, &Memory::self_alloc,
      {
          {"calls", "Calls", count, told_of(&Memory::calls)},
          {"self_alloc_bytes", "Self", bytes, told_of(&Memory::self_alloc)},
          {"self_count", "Allocs", count, some, told_of(&Memory::self_count)},
          {"self_increase_bytes", "Kept", bytes, most, told_of(&Memory::self_increase)},
          {"alloc_bytes", "Total", bytes, most, told_of(&Memory::alloc)},
          {"count", "Allocs", count, some, told_of(&Memory::count)},
          {"increase_bytes", "Kept", bytes, some, told_of(&Memory::increase)},
      });
}

Table peak_table(const OperatorDevices& devices, const MemoryOptions& options) {
  using enum ColumnKind;
  using Memory = OperatorMemory;
  return operator_table(
      devices, options, &Memory::at_peak,
      {
          {"share", "Share", share,
           [](const OperatorRow& of) { return share_cell(of.named.memory.at_peak, of.peak); }},
          {"bytes", "Bytes", bytes, told_of(&Memory::at_peak)},
          {"count", "Allocs", count, told_of(&Memory::at_peak_count)},
      });
}

Table unfreed_table(const OperatorDevices& devices, const MemoryOptions& options) {
  using enum ColumnKind;
  using Memory = OperatorMemory;
  return operator_table(devices, options, &Memory::unfreed,
                        {
                            {"bytes", "Bytes", bytes, told_of(&Memory::unfreed)},
                            {"count", "Allocs", count, told_of(&Memory::unfreed_count)},
                            {"steps", "In steps", count, told_of(&Memory::unfreed_steps)},
                        });
}

// Returns the highest point of each of `count` equal parts of the curve's time.
std::vector<MemoryPoint> highest_points(const std::vector<MemoryPoint>& curve, std::size_t count) {
  const std::int64_t from_ns = curve.front().at_ns;
  const std::int64_t length_ns = curve.back().at_ns - from_ns;
  std::vector<MemoryPoint> points;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(count);
    const auto end_ns = i + 1 == count
                            ? curve.back().at_ns
                            : from_ns + std::llround(share * static_cast<double>(length_ns));
    // The memory at the begin of the part counts, too.
    MemoryPoint highest = curve[next == 0 ? 0 : next - 1];
    highest.at_ns = from_ns + std::llround(static_cast<double>(i) / static_cast<double>(count) *
                                           static_cast<double>(length_ns));
    for (; next < curve.size() && curve[next].at_ns <= end_ns; ++next) {
      highest.allocated = std::max(highest.allocated, curve[next].allocated);
      highest.reserved = std::max(highest.reserved, curve[next].reserved);
    }
    points.push_back(highest);
  }
  return points;
}

// Draws from 0, or from the lowest point if totals are relative, to the peak.
std::string sparks_of(const DeviceMemory& device) {
  const std::vector<MemoryPoint> points = highest_points(device.curve, kSparks);
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

std::int64_t unfreed_of(const DeviceMemory& device) {
  if (!device.has_addresses) return kNotGiven;
  std::int64_t unfreed = 0;
  for (const auto& [name, memory] : device.operators) unfreed += memory.unfreed;
  return unfreed;
}

Table device_table(const std::vector<DeviceMemory>& devices) {
  using enum ColumnKind;
  using enum Readers;
  using Row = DeviceMemory;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::name},
      {"allocations", "Allocs", count, some, &Row::allocations},
      {"frees", "Frees", count, few, &Row::frees},
      {"start_bytes", "Start", bytes, few, [](auto& of) { return of.curve.front().allocated; }},
      {"peak_bytes", "Peak", bytes, [](auto& of) { return of.peak().allocated; }},
      {"mean_bytes", "Mean", bytes, few, &Row::mean},
      {"end_bytes", "End", bytes, most, [](auto& of) { return of.curve.back().allocated; }},
      {"reserved_peak_bytes", "Reserved", bytes, some,
       [](auto& of) { return told(of.reserved_peak()); }},
      {"unfreed_bytes", "Unfreed", bytes, some, [](auto& of) { return told(unfreed_of(of)); }},
      {"growth_bytes_per_step", "Growth/step", bytes, most, &Row::growth_per_step},
      {"peak_at_ns", "Peak at", duration, few, [](auto& of) { return of.peak().at_ns; }},
      {"peak_step", "In step", count, some, &Row::peak_step},
      {"curve", "Curve", text, some, &sparks_of},
      {"peak_op", "Operator at peak", text, most, text_of(&Row::peak_operator)},
  };
  return make_table(devices, columns);
}

void note_clocks(const Run& run, const std::vector<FileCurve>& curves, Report& report) {
  std::set<std::int64_t> off;
  for (const FileCurve& curve : curves)
    if (!run.files.empty() && !curve.has_clock) off.insert(curve.rank);
  RankNotes notes;
  for (const std::int64_t rank : off)
    notes.add(rank,
              "no trace of the rank is on the clock of its files about memory: their curves begin "
              "at 0, and are not in steps");
  notes.append_to(report);
}

Table curve_table(const std::vector<DeviceMemory>& devices, const std::vector<FileCurve>& curves,
                  std::size_t parts) {
  struct Row {
    std::int64_t rank;
    std::string device;
    std::string_view category;
    MemoryPoint point;
  };
  using enum ColumnKind;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, text_of(&Row::device)},
      {"category", "Category", text, text_of(&Row::category)},
      {"at_ns", "From", duration, [](auto& of) { return of.point.at_ns; }},
      {"allocated_bytes", "Allocated", bytes, [](auto& of) { return of.point.allocated; }},
      {"reserved_bytes", "Reserved", bytes, [](auto& of) { return told(of.point.reserved); }},
  };
  Table table = empty_table(columns);
  for (const DeviceMemory& device : devices)
    for (const MemoryPoint& point : highest_points(device.curve, parts))
      add_row(table, columns, {device.rank, device.name(), "", point});
  for (const FileCurve& curve : curves)
    for (const MemoryPoint& point : highest_points(curve.points, parts))
      add_row(table, columns,
              {curve.rank, curve.device ? fmt::format("GPU{}", *curve.device) : "", curve.category,
               point});
  return table;
}

// True for memory that a counter measured and that is not always 0.
bool is_memory(const CounterSeries& series, bool all) {
  // A merge has those of allocator snapshots (tools/trace_merge/added_rows.h).
  const bool is_of_snapshots =
      series.name.starts_with("GPU ") &&
      (series.name.ends_with(" allocated/bytes") || series.name.ends_with(" reserved/bytes"));
  return (is_of_snapshots || series.name.starts_with("memory")) && !series.is_rate &&
         !series.values.empty() &&
         (all || std::any_of(series.values.begin(), series.values.end(),
                             [](const CounterValue& value) { return value.value != 0; }));
}

// The values of a counter of memory on a rank.
struct MemoryCounter {
  std::int64_t rank = 0;
  CounterSeries series;
  double least = 0;
  double mean = 0;
  double most = 0;
  std::optional<double> growth;
};

MemoryCounter measure(const RankEvents& rank, CounterSeries series) {
  double sum = 0;
  double least = series.values.front().value;
  double most = least;
  for (const CounterValue& value : series.values) {
    least = std::min(least, value.value);
    most = std::max(most, value.value);
    sum += value.value;
  }
  const double mean = sum / static_cast<double>(series.values.size());
  const std::optional<double> growth = slope_at_ends(rank, series.values, &CounterValue::value);
  return {rank.rank, std::move(series), least, mean, most, growth};
}

Table host_table(const Run& run, bool all_counters) {
  std::vector<MemoryCounter> found;
  bool processes = false;
  using Counters = std::vector<CounterSeries>;
  const auto find = [&](std::size_t rank) { return find_counters(run, run.ranks[rank]); };
  for_each_rank<Counters>(run, all_ranks(run), find, [&](std::size_t rank, Counters counters) {
    for (CounterSeries& series : counters) {
      if (!is_memory(series, all_counters)) continue;
      processes |= !series.process.empty();
      found.push_back(measure(run.ranks[rank], std::move(series)));
    }
  });
  using enum ColumnKind;
  using enum Readers;
  using Row = MemoryCounter;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"counter", "Counter", text, [](auto& of) { return of.series.name; }},
      {"process", "Process", text, Readers::most, processes,
       [](auto& of) { return text_or_nothing(of.series.process); }},
      {"unit", "Unit", text, few, [](auto& of) { return unit_cell(of.series.unit); }},
      {"samples", "Samples", count, some, [](auto& of) { return of.series.values.size(); }},
      {"start", "Start", quantity, Readers::most,
       [](auto& of) { return of.series.values.front().value; }},
      {"least", "Least", quantity, some, &Row::least},
      {"mean", "Mean", quantity, some, &Row::mean},
      {"most", "Most", quantity, &Row::most},
      {"end", "End", quantity, [](auto& of) { return of.series.values.back().value; }},
      {"growth_per_step", "Growth/step", quantity, Readers::most, &Row::growth},
  };
  return make_table(found, columns);
}

Table function_table(const std::vector<MemoryStatsFile>& stats, const MemoryOptions& options) {
  using enum ColumnKind;
  using enum Readers;
  using Row = MemoryStatsRow;
  const auto unit_of = [](auto& of) {
    return unit_cell(is_bytes_value(of.value) ? QuantityUnit::bytes : QuantityUnit::none);
  };
  const ColumnsOf<Row> columns{
      {"function", "Function", text, &Row::function},
      {"value", "Value", text, &Row::value},
      {"rank", "Rank", count, options.by_rank, &Row::rank},
      {"unit", "Unit", text, few, unit_of},
      {"ranks", "Ranks", count, few, &Row::ranks},
      {"iterations", "Iters", count, some, &Row::iterations},
      {"start", "Start", quantity, Readers::most, &Row::start},
      {"end", "End", quantity, &Row::end},
      {"difference", "Difference", quantity, &Row::difference},
      {"least", "Least", quantity, some, &Row::least},
      {"most", "Most", quantity, Readers::most, &Row::most},
      {"most_rank", "Of rank", count, some, &Row::most_rank},
      {"growth_per_step", "Growth/step", quantity, Readers::most, &Row::growth},
  };
  return make_table(compare_memory_stats(stats, {options.by_rank, options.all_values}), columns);
}

std::string files_json(const std::vector<MemoryStatsFile>& stats) {
  std::string text;
  JsonWriter json(text);
  write_objects(json, stats, [&](const MemoryStatsFile& file) {
    json.member("path", file.path);
    json.member("snapshots", file.snapshots.size());
    json.member("left_out", file.left_out);
  });
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
                  bytes_words(highest->peak().allocated),
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

Report memory_report(const Run& run, const MemoryFiles& files, const MemoryOptions& options) {
  const std::vector<DeviceMemory>& devices = find_device_memory(run);
  Report report("memory", run);
  report.values.emplace_back("stats_files", files_json(files.stats));
  Table host = host_table(run, options.all_values);
  const bool any_counter = !host.rows().empty();
  report.tables.push_back({"rows", "", device_table(devices)});
  constexpr std::size_t kPlaces = 20;
  const bool all_places = options.operators == 0;
  add_memory_files(files, {options.base, all_places ? 0 : std::max(kPlaces, options.operators)},
                   report);
  add_headline(devices, report);
  add_notes(run, devices, any_counter, files.stats, report);
  const OperatorDevices by_device = gather_operators(devices, options.by_rank);
  report.tables.push_back({"operators", "Who allocates", allocators_table(by_device, options)});
  report.tables.push_back(
      {"peak", "Who had allocated what was there at the peak", peak_table(by_device, options)});
  report.tables.push_back(
      {"unfreed", "Who allocated what was never freed", unfreed_table(by_device, options)});
  const std::vector<FileCurve> curves = file_curves(run, files);
  note_clocks(run, curves, report);
  if (options.curve > 0)
    report.tables.push_back({"curve", "Curves: the highest from each moment to the next",
                             curve_table(devices, curves, options.curve)});
  report.tables.push_back({"host", "Counters of memory", std::move(host)});
  report.tables.push_back({"functions", "Memory stats of functions, means over ranks",
                           function_table(files.stats, options)});
  return report;
}

}  // namespace traceloom
