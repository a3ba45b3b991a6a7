// Devices, kernels and operators, and the tree of calls.
#include "analysis/memory/counter_series.h"
#include "analysis/memory/device_memory.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "base/string_table.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "page/html/figures.h"
#include "page/html/html_writer.h"
#include "page/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace traceloom {
namespace {

void write_devices(HtmlWriter& html, const PageRun& page) {
  std::vector<DeviceTimes> devices = device_times(page.run);
  if (devices.empty()) return;
  keep_largest(devices, page.room(kMostBars),
               [](const DeviceTimes& device) { return device.idle_ns; });
  std::int64_t room_ns = 1;
  for (const DeviceTimes& device : devices) room_ns = std::max(room_ns, device.total_ns);
  std::vector<Bar> bars;
  bars.reserve(devices.size());
  for (const DeviceTimes& device : devices) {
    bars.push_back(
        {fmt::format("rank {} GPU {}", device.rank, device.device),
         format_duration(device.total_ns),
         {time_part("kernel", "compute", device.compute_ns, room_ns),
          time_part("communication", "exposed communication", device.exposed_comm_ns, room_ns),
          time_part("memcpy", "exposed copies", device.exposed_memcpy_ns, room_ns),
          time_part("other", "idle", device.idle_ns, room_ns)}});
  }
  html.element("h3", "What each device does");
  html.element("p",
               "Blue: compute. Orange: communication that no kernel hides. Pink: copies that "
               "nothing hides. Grey: idle.");
  write_command(html, page, "gpu");
  write_stacked_bars(html, "Compute, exposed communication, exposed copies and idle time", bars);
}

void write_flame(HtmlWriter& html, const PageRun& page) {
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  write_choice(html, "Width by ", page.id("flame-time"),
               {{"host", "time on the host"}, {"device", "time on devices"}});
  write_canvas(html, {page.id("flame"), page.id("flame-status"), "flame", page.side,
                      "Flame graph of the tree below; arrow keys move, Enter zooms into a call, "
                      "Escape shows all. The numbers are in the table below."});
  html.close_line();
}

// Names for the page's search: a row is kind, name, count, total in ns.
struct NameList {
  PageNames& places;
  std::string text = {};
  JsonWriter json{text};
  std::size_t rows = 0;
};

// Appends those with the most time, until their room is full, and returns what is left of it.
std::size_t append_names(NameList& list, std::string_view kind, const Report& report,
                         std::string_view total_key, std::size_t room) {
  const Table& table = report.tables.front().table;
  const auto name = table.find_column("name");
  const auto count = table.find_column("count");
  const auto total = table.find_column(total_key);
  if (!name || !count || !total) return room;
  for (const std::vector<Cell>& row : table.rows()) {
    const std::string text = page_name(std::get<std::string>(row[*name]));
    if (text.size() + 40 > room) break;
    room -= text.size() + 40;
    list.places.emplace(text, list.rows++);
    write_values(list.json, kind, text, std::get<std::int64_t>(row[*count]),
                 std::get<std::int64_t>(row[*total]));
  }
  return room;
}

// The trees of single ranks; four numbers a row: depth, time on the host, on devices, and the name.
void write_rank_trees(HtmlWriter& html, const PageRun& page) {
  if (page.run.ranks.size() < 2 || page.tree.calls == nullptr) return;
  const PagePlaces places = places_of(page);
  std::vector<std::size_t> ranks = rank_order(page.run, places);
  ranks.resize(std::min(ranks.size(), page.room(kMostTreeRanks)));
  StringTable names;
  const auto write_rank = [&](JsonWriter& json, std::size_t place) {
    const std::int64_t rank = page.run.ranks[place].rank;
    const PageTree tree =
        page_tree_of(page.run, page.tree.calls->of_rank(place), page.room(kMostTreeNodes / 2));
    write_members(json, "rank", rank, "why", why_of(rank, places), "command",
                  page.command(fmt::format("{} --rank {}", tree.command, rank)));
    json.begin_array("rows");
    for (const std::vector<Cell>& row : tree.table.rows()) {
      for (const char* const key : {"depth", "host_total_ns", "device_total_ns"})
        json.value(std::get<std::int64_t>(row[*tree.table.find_column(key)]));
      json.value(
          names.intern(page_name(std::get<std::string>(row[*tree.table.find_column("name")]))));
    }
    json.end_array();
  };
  html.data(page.id("calls"), "application/json", json_object([&](JsonWriter& json) {
              write_objects(json, "ranks", ranks,
                            [&](std::size_t place) { write_rank(json, place); });
              json.begin_array("names");
              for (std::uint32_t i = 0; i < names.size(); ++i) json.value(names[i]);
              json.end_array();
            }));
}

}  // namespace

void write_device_section(HtmlWriter& html, const PageRun& page) {
  write_devices(html, page);
  write_tables(html, page, gpu_report(page.run), "Devices", 40);
  write_tables(html, page, idle_report(page.run, {}), "Why devices are idle", 20);
  write_tables(html, page, launch_report(page.run, {}), "Launches by stream", 20);
  write_tables(html, page, memcpy_report(page.run, {}), "Copies and fills", 20);
}

void write_work_section(HtmlWriter& html, const PageRun& page) {
  const Report kernels = kernels_report(page.run, {});
  const Report operators = ops_report(page.run, {});
  write_tables(html, page, kernels, "Kernels");
  write_tables(html, page, operators, "Operators");
  NameList names{*page.names};
  // A page of few ranks is small, too. Long names of kernels leave half of the room to operators.
  const std::size_t room =
      page.room(std::min(kMostNamesBytes, 14'000 + 3'500 * page.run.ranks.size()));
  names.json.begin_array();
  const std::size_t left = append_names(names, "kernel", kernels, "total_ns", room / 2);
  append_names(names, "operator", operators, "host_total_ns", room / 2 + left);
  names.json.end_array();
  html.data(page.id("names"), "application/json", names.text);
}

void write_code_section(HtmlWriter& html, const PageRun& page) {
  const PageTree& tree = page.tree;
  if (!tree.table.rows().empty()) {
    html.element("p",
                 "What was called within what, all threads together; the table is of all ranks.");
    write_flame(html, page);
    write_rank_trees(html, page);
    write_table(html, tree.table,
                {.caption = "Tree of calls",
                 .command = page.command(tree.command),
                 .source = "tree.rows",
                 .is_tree = true});
  }
  write_notes(html, tree.notes);
}

namespace {

// Memory and host: curves of devices' memory and of the machine's counters.

// Keeps the greatest and the last point of each part of equal time, so that no peak is lost.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points) {
  if (points.size() <= kMostCurvePoints) return points;
  std::vector<CurvePoint> kept;
  const double start = static_cast<double>(points.front().at_ns);
  const double length = std::max(static_cast<double>(points.back().at_ns) - start, 1.0);
  constexpr std::size_t kParts = kMostCurvePoints / 2;
  std::size_t i = 0;
  for (std::size_t part = 1; part <= kParts && i < points.size(); ++part) {
    const double end = start + length * static_cast<double>(part) / kParts;
    std::size_t most = i;
    std::size_t next = i;
    while (next < points.size() &&
           (part == kParts || static_cast<double>(points[next].at_ns) < end)) {
      if (points[next].value > points[most].value) most = next;
      ++next;
    }
    if (next == i) continue;
    kept.push_back(points[most]);
    if (next - 1 != most) kept.push_back(points[next - 1]);
    i = next;
  }
  return kept;
}

// A curve, and how much it matters: there is room for some.
struct RankedCurve {
  double weight;
  Curve curve;
};

void write_curves(HtmlWriter& html, std::vector<RankedCurve> curves) {
  std::ranges::stable_sort(curves, std::greater(), &RankedCurve::weight);
  curves.resize(std::min(curves.size(), kMostCurves));
  html.open("div", {{"class", "curves"}});
  for (const RankedCurve& one : curves) write_curve(html, one.curve);
  html.close();
}

// Every other step of a rank, as bands behind a curve; of more there is nothing to see.
void add_steps(const PageRun& page, std::int64_t rank, Curve& curve) {
  for (const RankRoles& one : page.roles) {
    if (one.rank != rank || one.steps.size() > kMostColumns) continue;
    bool is_even = false;
    for (const StepRoles& step : one.steps)
      if (is_even = !is_even; is_even)
        curve.bands.emplace_back(step.step.time.from_ns, step.step.time.to_ns);
  }
}

Curve memory_curve(std::string title, const std::vector<MemoryPoint>& points) {
  Curve curve{.title = std::move(title), .has_steps = true};
  for (const MemoryPoint& point : points) {
    curve.points.push_back({point.at_ns, static_cast<double>(point.allocated)});
    if (point.reserved != kNotGiven)
      curve.second.push_back({point.at_ns, static_cast<double>(point.reserved)});
  }
  curve.points = thinned(curve.points);
  curve.second = thinned(curve.second);
  return curve;
}

RankedCurve curve_of(const PageRun& page, const FileCurve& of) {
  std::string title =
      of.device ? fmt::format("rank {} GPU {}", of.rank, *of.device) : std::string(of.category);
  RankedCurve ranked{static_cast<double>(of.peak_bytes), memory_curve(std::move(title), of.points)};
  Curve& curve = ranked.curve;
  curve.words = of.device ? "peak " + bytes_words(of.peak_bytes)
                          : bytes_words(of.peak_bytes) + " at the peak";
  if (of.peak_step) curve.words += fmt::format(" in step {}", *of.peak_step);
  curve.mark_ns = of.peak_at_ns;
  curve.failed_ns = of.ooms_ns;
  if (of.has_clock) add_steps(page, of.rank, curve);
  return ranked;
}

// The categories of the rank whose memory timeline has the highest peak, on one scale.
void write_category_curves(HtmlWriter& html, const PageRun& page,
                           const std::vector<FileCurve>& of_files) {
  const std::vector<const RankedTimeline*> all = highest_timelines(page.memory);
  const auto highest =
      std::ranges::max_element(all, {}, [](const RankedTimeline* one) { return one->peak; });
  const std::int64_t rank = highest == all.end() ? kNoId : (*highest)->rank;
  std::vector<RankedCurve> curves;
  double top = 0;
  for (const FileCurve& of : of_files) {
    if (of.device || of.rank != rank) continue;
    RankedCurve& one = curves.emplace_back(curve_of(page, of));
    for (const MemoryPoint& point : of.points)
      one.weight = std::max(one.weight, static_cast<double>(point.allocated));
    top = std::max(top, one.weight);
  }
  if (curves.empty()) return;
  for (RankedCurve& one : curves) one.curve.top = top;
  html.element("h3", fmt::format("Memory by category, of rank {}{}", rank,
                                 all.size() > 1 ? ", which has the highest peak" : ""));
  html.element(
      "p",
      "All on one scale. Bands: every other step. Line from top to bottom: the peak of all "
      "together.",
      {{"class", "command"}});
  write_command(html, page, fmt::format("memory --curve {}", kMostCurvePoints));
  write_curves(html, std::move(curves));
}

void write_snapshot_curves(HtmlWriter& html, const PageRun& page,
                           const std::vector<FileCurve>& of_files) {
  std::vector<RankedCurve> curves;
  for (const FileCurve& of : of_files)
    if (of.device) curves.push_back(curve_of(page, of));
  if (curves.empty()) return;
  html.element("h3", curves.size() > kMostCurves
                         ? fmt::format("Allocator snapshots of the {} devices of {} with the "
                                       "highest peaks",
                                       kMostCurves, curves.size())
                         : "Allocator snapshots of each device");
  html.element("p",
               "Line: allocated. Dashes: reserved by the allocator. Bands: every other step. Line "
               "from top to bottom: the peak of what was asked for; in dashes: out of memory.",
               {{"class", "command"}});
  write_command(html, page, fmt::format("memory --curve {}", kMostCurvePoints));
  write_curves(html, std::move(curves));
}

RankedCurve curve_of(const DeviceMemory& device) {
  const std::int64_t peak = device.peak().allocated;
  RankedCurve ranked{
      static_cast<double>(peak),
      memory_curve(fmt::format("rank {} {}", device.rank, device.name()), device.curve)};
  ranked.curve.words = "peak " + bytes_words(std::max<std::int64_t>(peak, 0));
  return ranked;
}

void write_device_curves(HtmlWriter& html, const PageRun& page) {
  std::vector<RankedCurve> curves;
  for (const DeviceMemory& device : find_device_memory(page.run))
    curves.push_back(curve_of(device));
  if (curves.empty()) return;
  html.element("h3", curves.size() > kMostCurves
                         ? fmt::format("Memory of the {} devices of {} with the highest peaks",
                                       kMostCurves, curves.size())
                         : "Memory of each device");
  html.element("p", "Line: allocated. Dashes: reserved by the allocator.", {{"class", "command"}});
  write_command(html, page, fmt::format("memory --curve {}", kMostCurvePoints));
  write_curves(html, std::move(curves));
}

std::string value_text(double value, QuantityUnit unit) {
  switch (unit) {
    case QuantityUnit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case QuantityUnit::bytes:
      return format_bytes(static_cast<std::uint64_t>(std::max(value, 0.0)));
    case QuantityUnit::bytes_per_second:
      return format_bytes(static_cast<std::uint64_t>(std::max(value, 0.0))) + "/s";
    case QuantityUnit::per_second:
      return fmt::format("{:.4g}/s", value);
    case QuantityUnit::none:
      break;
  }
  return fmt::format("{:.4g}", value);
}

// Weighs a counter by how much it varies for its size: a flat line shows nothing.
RankedCurve curve_of(const CounterSeries& series) {
  Curve curve{
      .title = series.process.empty() ? series.name : series.name + ", process " + series.process,
      .has_steps = false};
  double sum = 0;
  double squares = 0;
  double most = 0;
  for (const CounterValue& value : series.values) {
    curve.points.push_back({value.at_ns, value.value});
    sum += value.value;
    squares += value.value * value.value;
    most = std::max(most, value.value);
  }
  const auto count = static_cast<double>(series.values.size());
  const double mean = sum / count;
  const double variation =
      mean > 0 ? std::sqrt(std::max(squares / count - mean * mean, 0.0)) / mean : 0;
  curve.words = "at most " + value_text(most, series.unit);
  curve.points = thinned(curve.points);
  return {variation, std::move(curve)};
}

// Shows the counters of the first rank.
void write_host_curves(HtmlWriter& html, const PageRun& page) {
  if (page.run.ranks.empty()) return;
  const RankEvents& rank = page.run.ranks.front();
  std::vector<RankedCurve> curves;
  for (const CounterSeries& series : find_counters(page.run, rank))
    if (series.values.size() >= 3) curves.push_back(curve_of(series));
  std::erase_if(curves, [](const RankedCurve& one) { return !(one.weight > 0); });
  if (curves.empty()) return;
  html.element("h3", fmt::format("Counters of the machine of rank {}", rank.rank));
  write_command(html, page, "host");
  write_curves(html, std::move(curves));
}

}  // namespace

void write_memory_section(HtmlWriter& html, const PageRun& page) {
  const Report memory = memory_report(page.run, page.memory, {});
  if (!page.memory.is_empty())
    for (const std::string& line : memory.headline) html.element("p", line);
  const std::vector<FileCurve> of_files = file_curves(page.run, page.memory);
  write_snapshot_curves(html, page, of_files);
  write_category_curves(html, page, of_files);
  write_device_curves(html, page);
  write_host_curves(html, page);
  write_tables(html, page, memory, "Memory by device", 40);
  write_tables(html, page, host_report(page.run, {}), "Counters of the machine");
}

namespace {

// Clocks and repairs, and the formulas of the numbers.

constexpr PageDefinition kDefinitions[] = {
    {"Step",
     "A span that the framework marks: ProfilerStep#N, Composer's batch with its wait for data, an "
     "iteration of an inference engine. The profiler loses the end of the last one, so it does not "
     "count."},
    {"Role",
     "Each instant of a step counts for the first of these that covers it: kernel, memcpy, memset, "
     "communication, runtime, dataloader, cpu, host_code, other. So the roles add up to the step, "
     "and communication and dataloader are what no kernel hides."},
    {"Share",
     "A part of the steps that its line names, divided by all their time: sum of parts / sum of "
     "steps."},
    {"Mean, median, p99",
     "Over the steps that count. The median and p99 are the values at 50 % and 99 % of the sorted "
     "list (nearest rank), not between two."},
    {"Waiting",
     "Ranks leave a collective together. A rank's time in it beyond that of the rank with the "
     "least is waiting; the rank with the least came last. No clocks are compared."},
    {"Transfer", "A rank's time in a collective without the waiting."},
    {"Delay a step",
     "The time by which a step would be shorter if the rank that came last were as fast as the "
     "next one."},
    {"Bus GB/s",
     "bytes / time, times 2(n-1)/n for an all-reduce and (n-1)/n for all-gather, reduce-scatter "
     "and all-to-all of n ranks, as nccl-tests counts. GB are 10^9 bytes."},
    {"Compute, idle (devices)",
     "From the first to the last work of a device: compute is the union of kernels without "
     "collectives, exposed communication and copies are what lies outside of it, idle is the "
     "rest."},
    {"Self time",
     "A span's time without the spans inside it. Device self time: work that it launched, and none "
     "of its children."},
    {"Launch delay", "From the begin of the call to the begin of its work on the device."},
    {"Occupancy, SM efficiency",
     "Estimates of the profiler for each kernel, weighted by duration: min(1, blocks per SM)."},
    {"Clock offset",
     "What is added to the times of a file: from clock syncs, base times of the host, or "
     "collectives, which all ranks leave together."},
    {"Time left out",
     "The timeline keeps the longest spans of each row. Shades show where others are, and how much "
     "of the time they cover."},
};

}  // namespace

void write_files_section(HtmlWriter& html, const PageRun& page) {
  Report info = info_report(page.run);
  add_clocks(page.run, info);
  write_tables(html, page, check_report(page.run).report, "Problems of each file");
  write_tables(html, page, info, "Files");
}

void write_definitions(HtmlWriter& html) {
  write_definition_list(html, kDefinitions);
}

}  // namespace traceloom
