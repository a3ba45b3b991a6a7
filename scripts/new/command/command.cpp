// trace-stats @COMMAND@: WRITE: what it answers.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_@NAME@(CLI::App& app, Work& work) {
  CLI::App* const command =
      add_analysis(app, work,
                   {.name = "@COMMAND@",
                    .help = "WRITE: a line for lists of commands\n"
                            "WRITE: what is counted, for the manual page.",
                    // The report reads events in for_each_rank() and its like alone.
                    .spread = true},
                   [](const Run& run) { return Answer{@NAME@_report(run)}; });
  set_examples(*command, {{"WRITE: what for", "trace-stats @COMMAND@ traces/"}});
}

const RegisteredCommand k@Name@Command(CommandGroup::@GROUP@, @PLACE@, add_@NAME@);

}  // namespace
}  // namespace traceloom
