// trace-stats dataloader: whether the input is what limits the run.
#include "analysis/reports/dataloader_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {

void add_dataloader(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "dataloader",
       .help =
           "How long the loop waits for its data: torch's enumerate(DataLoader)#..., Composer's "
           "dataloader/* and event/dataloader. Share is all of the wait, of the host's time in the "
           "steps; "
           "exposed is what no device work or collective hides, of the steps themselves; first is "
           "the first wait of the epoch in the trace and "
           "not in Med and P99; between is the wait outside of steps. The job is judged in "
           "each step by the rank whose wait the others feel most, over the longest step. XLA's "
           "class: from 20 % highly, from 5 % "
           "moderately input-bound; tb_plugin: more than 5 %; Composer (never released): more than "
           "1 % of the rest of the step and 1 ms, means without outliers, of 10 steps and more"},
      [](const Run& run) { return Answer{dataloader_report(run)}; });
  set_examples(*command, {{"of each rank and epoch, the worst first",
                           "trace-stats dataloader traces/ --sort exposed_share"}});
}

}  // namespace traceloom
