// trace-stats gpu: how busy the devices are.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_gpu(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "gpu",
       .help =
           "How busy each device is, and with what\n"
           "From the first to the last event of a device, compute, exposed communication, exposed "
           "copies and idle time add up to the total. A second table shows which types of work "
           "(computation, communication, memory) run at the same time. Columns have the names "
           "that TraceLens, HTA and tb_plugin use.",
       .details = true,
       .python = true,
       .spread = true,
       .by_mesh = true},
      [](const Run& run) { return Answer{gpu_report(run)}; });
  set_examples(*command, {{"the devices that are idle longest",
                           "trace-stats gpu traces/ --sort idle_share --top 5"}});
}

const RegisteredCommand kGpuCommand(CommandGroup::devices, 10, add_gpu);

}  // namespace
}  // namespace traceloom
