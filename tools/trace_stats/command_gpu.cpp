// trace-stats gpu: how busy the devices are.
#include "analysis/reports/gpu_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {

void add_gpu(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "gpu",
       .help =
           "How busy each device is, from its first to its last event. compute (kernels but "
           "collectives, and memset), exposed comm (collectives while nothing computes), exposed "
           "memcpy and idle add up to total: TraceLens' columns. kernels and non-compute are "
           "HTA's; overlap is the share of collectives behind which kernels compute. util., SM "
           "eff. and occup. are tb_plugin's, of the time from the first step to the last. By type "
           "of "
           "work (HTA's): what of computation, communication and memory (copies, memset) runs at "
           "an instant, of all devices",
       .details = true},
      [](const Run& run) { return Answer{gpu_report(run)}; });
  set_examples(*command, {{"the devices that are idle longest",
                           "trace-stats gpu traces/ --sort idle_share --top 5"}});
}

}  // namespace traceloom
