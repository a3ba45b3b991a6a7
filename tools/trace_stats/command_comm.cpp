// trace-stats comm: how fast collectives are, and who comes late to them.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {
namespace {

void add_comm(CLI::App& app, Work& work) {
  const auto options = std::make_shared<CommOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "comm",
       .help = "How fast collectives are, and how long ranks wait in them\n"
               "Groups collectives by name, type, size and process group, and matches those of "
               "several ranks with each other. Latency is the shortest time that a rank spent in a "
               "collective; wait is what the other ranks spent beyond that. Algorithm bandwidth is "
               "bytes divided by latency; bus bandwidth corrects it for the number of ranks, as "
               "nccl-tests does. 1 GB is 1e9 bytes.",
       .details = true,
       .spread = true,
       .by_mesh = true},
      [options](const Run& run) { return Answer{comm_report(run, *options)}; });
  command->add_flag("--each", options->each, "Also show each matched collective");
  set_examples(*command, {{"the collectives that take longest",
                           "trace-stats comm traces/ --sort latency_ns --top 10"}});
}

const RegisteredCommand kCommCommand(CommandGroup::devices, 50, add_comm);

}  // namespace
}  // namespace traceloom
