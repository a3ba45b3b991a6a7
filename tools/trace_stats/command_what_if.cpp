// trace-stats what-if: WRITE: what it answers.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_what_if(CLI::App& app, Work& work) {
  CLI::App* const command =
      add_analysis(app, work,
                   {.name = "what-if",
                    .help = "WRITE: a line for lists of commands\n"
                            "WRITE: what is counted, for the manual page.",
                    // The report reads events in for_each_rank() and its like alone.
                    .spread = true},
                   [](const Run& run) { return Answer{what_if_report(run)}; });
  set_examples(*command, {{"WRITE: what for", "trace-stats what-if traces/"}});
}

const RegisteredCommand kWhatIfCommand(CommandGroup::time, 80, add_what_if);

}  // namespace
}  // namespace traceloom
