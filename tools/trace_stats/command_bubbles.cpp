// trace-stats bubbles: what stages and ranks wait for.
#include "analysis/job/job_reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_bubbles(CLI::App& app, Work& work) {
  CLI::App* const command =
      add_analysis(app, work,
                   {.name = "bubbles",
                    .help = "What the stages of a pipeline compute, exchange and wait for\n"
                            "Splits each step of a rank into computing, collectives and messages "
                            "that move data or wait, the wait for data, and idle time. A bubble is "
                            "what no device work but messages fills; waiting is what better "
                            "balance could save.",
                    .details = true,
                    .spread = true,
                    .by_mesh = true},
                   [](const Run& run) { return Answer{bubbles_report(run)}; });
  set_examples(*command, {{"the bubbles of a pipeline", "trace-stats bubbles traces/"}});
}

const RegisteredCommand kBubblesCommand(CommandGroup::time, 90, add_bubbles);

}  // namespace
}  // namespace traceloom
