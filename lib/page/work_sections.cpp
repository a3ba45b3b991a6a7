// Devices, kernels and operators, and the tree of calls.
#include "analysis/reports/gpu_report.h"
#include "analysis/reports/idle_report.h"
#include "analysis/reports/kernels_report.h"
#include "analysis/reports/launch_report.h"
#include "analysis/reports/memcpy_report.h"
#include "analysis/reports/ops_report.h"
#include "base/units.h"
#include "page/html/figures.h"
#include "page/html/html_table.h"
#include "page/sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

void write_devices(HtmlWriter& html, const PageSource& source) {
  std::vector<DeviceTimes> devices = device_times(source.run);
  if (devices.empty()) return;
  const std::size_t most = source.room(kMostBars);
  if (devices.size() > most) {
    std::stable_sort(
        devices.begin(), devices.end(),
        [](const DeviceTimes& a, const DeviceTimes& b) { return a.idle_ns > b.idle_ns; });
    devices.resize(most);
  }
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
  write_command(html, source, "gpu");
  write_stacked_bars(html, "Compute, exposed communication, exposed copies and idle time", bars);
}

void write_flame(HtmlWriter& html, const PageSource& source) {
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  html.open("div", {{"class", "tools"}});
  html.open("label");
  html.text("Width by ");
  html.open("select", {{"id", source.id("flame-time")}});
  html.element("option", "time on the host", {{"value", "host"}});
  html.element("option", "time on devices", {{"value", "device"}});
  html.close();
  html.close();
  html.close();
  html.element("canvas", "",
               {{"id", source.id("flame")},
                {"class", "flame"},
                {"tabindex", "0"},
                {"role", "img"},
                {"aria-label",
                 "Flame graph of the tree below; arrow keys move, Enter zooms into a "
                 "call, Escape shows all. The numbers are in the table below."}});
  html.element("p", "",
               {{"id", source.id("flame-status")}, {"class", "status"}, {"role", "status"}});
  html.close();
  html.line();
}

}  // namespace

void write_device_section(HtmlWriter& html, const PageSource& source) {
  write_devices(html, source);
  write_tables(html, source, gpu_report(source.run),
               {.command = "gpu", .caption = "Devices", .rows = 40});
  write_tables(html, source, idle_report(source.run, {}),
               {.command = "idle", .caption = "Why devices are idle", .rows = 20});
  write_tables(html, source, launch_report(source.run, {}),
               {.command = "launch", .caption = "Launches by stream", .rows = 20});
  write_tables(html, source, memcpy_report(source.run, {}),
               {.command = "memcpy", .caption = "Copies and fills", .rows = 20});
}

void write_work_section(HtmlWriter& html, const PageSource& source) {
  write_tables(html, source, kernels_report(source.run, {}),
               {.command = "kernels", .caption = "Kernels"});
  write_tables(html, source, ops_report(source.run, {}),
               {.command = "ops", .caption = "Operators"});
}

void write_code_section(HtmlWriter& html, const PageSource& source, const PageTree* tree) {
  if (tree == nullptr) {
    html.element(
        "p",
        "The traces came through a pipe, so they could be read only once, without the calls. "
        "Give files for a flame graph.");
    return;
  }
  if (!tree->table.rows().empty()) {
    html.element("p", "What was called within what, all ranks and threads together.");
    write_flame(html, source);
    write_table(html, tree->table,
                {.caption = "Tree of calls",
                 .command = source.command(tree->command),
                 .source = "tree.rows",
                 .is_tree = true});
  }
  write_notes(html, tree->notes);
}

}  // namespace traceloom
