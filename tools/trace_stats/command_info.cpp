// trace-stats info: what is in each file.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_info(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "info",
       .help =
           "What is in each file: rank, producer, clock, events\n"
           "Shows how the rank and the clock of each file were found, its events by phase and its "
           "first and last time, and for each rank its steps, spans, devices and spans by "
           "category.",
       .spread = true,
       .prepare = [](RunRequest& request) { request.lists_clashes = true; }},
      [](const Run& run) { return Answer{info_report(run)}; });
  set_examples(*command, {{"which ranks are here", "trace-stats info traces/ --sort events"}});
}

const RegisteredCommand kInfoCommand(CommandGroup::files, 10, add_info);

}  // namespace
}  // namespace traceloom
