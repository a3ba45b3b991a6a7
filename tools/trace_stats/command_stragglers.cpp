// trace-stats stragglers: which rank the others wait for.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_stragglers(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "stragglers",
       .help =
           "Which rank the others wait for, how much, and why\n"
           "All ranks leave a collective together, so the rank that spends the least time in it "
           "came last, and what the others spend beyond that is waiting. Clocks of different "
           "ranks are not compared. A rank is named only if the evidence is clear: it comes last "
           "in most steps and the others wait for 10 % of a step; else the answer says what was "
           "measured. The cause is the role in which the rank spends more time than the median of "
           "the others.",
       .python = true,
       .spread = true,
       .by_mesh = true},
      [](const Run& run) { return Answer{stragglers_report(run)}; });
  set_examples(*command, {{"for a script: the rank, or null",
                           "trace-stats stragglers traces/ --format json | jq .verdict.rank"}});
}

const RegisteredCommand kStragglersCommand(CommandGroup::limits, 30, add_stragglers);

}  // namespace
}  // namespace traceloom
