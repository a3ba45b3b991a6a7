// trace-stats ops: which operators take the time.
#include "analysis/ops_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {

void add_ops(CLI::App& app, Work& work) {
  const auto options = std::make_shared<OpsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "ops",
       .help =
           "Which operators (category cpu_op) take the time, of the host and of the devices that "
           "they gave work to. Self is without operators and runtime calls inside; device work "
           "belongs to the operator of the call that launched it, by correlation: the one whose "
           "External id "
           "the call has, else the innermost around it. "
           "Steps, loaders, Optimizer.* and DistributedDataParallel.forward are no operators",
       .details = true},
      [options](const Run& run) { return Answer{ops_report(run, *options)}; });
  command->add_flag("--by-rank", options->by_rank, "One row for each rank and name")->group("Rows");
  set_examples(*command, {{"the host's slowest operators",
                           "trace-stats ops traces/ --sort host_self_ns --top 20"}});
}

}  // namespace traceloom
