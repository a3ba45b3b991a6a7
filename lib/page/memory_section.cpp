// Memory and host: curves of devices' memory and of the machine's counters.
#include "analysis/memory/counter_series.h"
#include "analysis/memory/device_memory.h"
#include "analysis/reports/host_report.h"
#include "analysis/reports/memory_report.h"
#include "base/units.h"
#include "page/html/figures.h"
#include "page/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace traceloom {
namespace {

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

void write_device_curves(HtmlWriter& html, const PageSource& source) {
  std::vector<DeviceMemory> devices = find_device_memory(source.run);
  if (devices.empty()) return;
  std::stable_sort(devices.begin(), devices.end(),
                   [](const DeviceMemory& a, const DeviceMemory& b) {
                     return a.peak().allocated > b.peak().allocated;
                   });
  html.element("h3", devices.size() > kMostCurves
                         ? fmt::format("Memory of the {} devices of {} with the highest peaks",
                                       kMostCurves, devices.size())
                         : "Memory of each device");
  html.element("p", "Line: allocated. Dashes: reserved by the allocator.", {{"class", "command"}});
  write_command(html, source, fmt::format("memory --curve {}", kMostCurvePoints));
  devices.resize(std::min(devices.size(), kMostCurves));
  html.open("div", {{"class", "curves"}});
  for (const DeviceMemory& device : devices) {
    Curve curve{
        .title = fmt::format("rank {} {}", device.rank, device.name()),
        .words = fmt::format("peak {}", format_bytes(static_cast<std::uint64_t>(
                                            std::max<std::int64_t>(device.peak().allocated, 0)))),
        .points = {},
        .second = {},
        .has_steps = true};
    for (const MemoryPoint& point : device.curve) {
      curve.points.push_back({point.at_ns, static_cast<double>(point.allocated)});
      if (point.reserved != kNotGiven)
        curve.second.push_back({point.at_ns, static_cast<double>(point.reserved)});
    }
    curve.points = thinned(curve.points);
    curve.second = thinned(curve.second);
    write_curve(html, curve);
  }
  html.close();
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

// Shows the counters of the first rank that vary most for their size: a flat line shows nothing.
void write_host_curves(HtmlWriter& html, const PageSource& source) {
  if (source.run.ranks.empty()) return;
  const RankEvents& rank = source.run.ranks.front();
  struct Found {
    double variation;
    Curve curve;
  };
  std::vector<Found> found;
  for (const CounterSeries& series : find_counters(source.run, rank)) {
    if (series.values.size() < 3) continue;
    Curve curve{
        .title = series.process.empty() ? series.name : series.name + ", process " + series.process,
        .words = {},
        .points = {},
        .second = {},
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
    if (!(variation > 0)) continue;
    curve.words = "at most " + value_text(most, series.unit);
    curve.points = thinned(curve.points);
    found.push_back({variation, std::move(curve)});
  }
  if (found.empty()) return;
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.variation > b.variation; });
  html.element("h3", fmt::format("Counters of the machine of rank {}", rank.rank));
  write_command(html, source, "host");
  found.resize(std::min(found.size(), kMostCurves));
  html.open("div", {{"class", "curves"}});
  for (const Found& one : found) write_curve(html, one.curve);
  html.close();
}

}  // namespace

void write_memory_section(HtmlWriter& html, const PageSource& source) {
  write_device_curves(html, source);
  write_host_curves(html, source);
  write_tables(html, source, memory_report(source.run, {}, {}),
               {.command = "memory", .caption = "Memory by device", .rows = 40});
  write_tables(html, source, host_report(source.run, {}),
               {.command = "host", .caption = "Counters of the machine", .rows = 60});
}

}  // namespace traceloom
