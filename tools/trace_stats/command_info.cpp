// trace-stats info: what is in each file.
#include "analysis/reports/info_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {

void add_info(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "info",
       .help = "What is in each file: rank and what it is known from, producer, events by "
               "phase, time from the first to the last event, what its clock is known from and "
               "its offset to the common one; and of each rank its steps, spans and devices, "
               "and spans by category (Python frames and marks are not counted there)"},
      [](const Run& run) { return Answer{info_report(run)}; });
  set_examples(*command, {{"which ranks are here", "trace-stats info traces/ --sort events"}});
}

}  // namespace traceloom
