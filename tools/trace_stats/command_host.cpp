// trace-stats host: what the machine did during the training.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {
namespace {

void add_host(CLI::App& app, Work& work) {
  const auto options = std::make_shared<HostOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "host",
       .help =
           "What CPU, memory, disks and network of the machine did\n"
           "Reads the counters of Composer's SystemProfiler and of the recorder. \"In waits\" is "
           "the mean while a rank waited for its data, \"elsewhere\" the mean in the rest of its "
           "steps. Totals since boot are shown as rates, and loads as shares (1: all CPUs). Rows "
           "are means over ranks.",
       .samples = true,
       .spread = true,
       .count_rows = [options](const Run& run,
                               RowLimit& limit) { count_counters(run, options->by_rank, limit); }},
      [options](const Run& run) { return Answer{host_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--during",
          [options](const std::string& expression) {
            options->during = read_pattern("--during", expression);
          },
          "Compare with spans of this name, not with waits\n"
          "The column of the mean in waits then shows the mean during host spans whose name "
          "contains a match.")
      ->type_name("REGEX");
  command->add_flag("--by-rank", options->by_rank, "Show each rank by itself");
  command->add_flag("--all", options->all, "Also show counters that are always 0");
  set_examples(*command, {{"is the CPU busy while the loop waits?", "trace-stats host traces/"},
                          {"and during the backward pass",
                           "trace-stats host traces/ --during event/backward"}});
}

const RegisteredCommand kHostCommand(CommandGroup::devices, 80, add_host);

}  // namespace
}  // namespace traceloom
