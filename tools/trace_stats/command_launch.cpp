// trace-stats launch: whether the host launches work fast enough.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {
namespace {

void add_launch(CLI::App& app, Work& work) {
  const auto options = std::make_shared<LaunchOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "launch",
       .help =
           "Whether the host launches work fast enough\n"
           "Shows for each stream how long work waits after its launch, how much of it is short "
           "(done in less time than its launch took), how long launch calls take, and how full "
           "the queue of launched work is. A second table shows the operators that launch short "
           "work.",
       .spread = true,
       .count_rows = count_streams},
      [options](const Run& run) { return Answer{launch_report(run, *options)}; });
  command->add_option("--ops", options->op_rows, "Show N operators that launch short work")
      ->type_name("N")
      ->capture_default_str();
  set_examples(*command, {{"delays and queues of all ranks", "trace-stats launch traces/"},
                          {"the streams that wait longest",
                           "trace-stats launch rank0.json.gz --sort delay_p99_ns --top 5"}});
}

const RegisteredCommand kLaunchCommand(CommandGroup::devices, 30, add_launch);

}  // namespace
}  // namespace traceloom
