// trace-stats dataloader: whether the input is what limits the run.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_dataloader(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "dataloader",
       .help =
           "How long the training loop waits for its input data\n"
           "Uses the data-loading spans of torch (enumerate(DataLoader)#...) and Composer "
           "(dataloader/*, event/dataloader). \"Share\" is the whole wait as a share of the "
           "host's time in steps; \"exposed\" is the part of the steps that neither device work "
           "nor a collective hides; \"first\" is the first wait of an epoch, which Med and P99 "
           "leave out; \"between\" is waiting outside of steps. In each step the job is judged by "
           "the rank whose wait delays the others most.",
       .spread = true},
      [](const Run& run) { return Answer{dataloader_report(run)}; });
  set_examples(*command, {{"of each rank and epoch, the worst first",
                           "trace-stats dataloader traces/ --sort exposed_share"}});
}

const RegisteredCommand kDataloaderCommand(CommandGroup::limits, 40, add_dataloader);

}  // namespace
}  // namespace traceloom
