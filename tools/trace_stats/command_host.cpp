// trace-stats host: what the machine did beside the training.
#include "analysis/reports/host_report.h"
#include "common/help_formatter.h"
#include "common/selection_options.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {

void add_host(CLI::App& app, Work& work) {
  const auto options = std::make_shared<HostOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "host",
       .help =
           "What the machine did beside the training, by the counters of Composer's SystemProfiler "
           "and of our recorder: CPU, memory, disks, network. Totals since boot become rates "
           "(their mean is by time); percentiles are of samples, nearest rank; loads are shares "
           "(1: all CPUs). In waits: the mean while the rank waited for its data, each value "
           "weighed by how much of its time that was; elsewhere: in the rest of its steps. "
           "Composer's _gb are blocks of 512 bytes and its kb_ blocks of 8, and are read so where "
           "the values show it; else GB, MB and kB are powers of 1000. Counters of a host are the "
           "same on all its ranks: rows are means over ranks",
       .samples = true,
       .count_rows = [options](const Run& run,
                               RowLimit& limit) { count_counters(run, options->by_rank, limit); }},
      [options](const Run& run) { return Answer{host_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--during",
          [options](const std::string& expression) {
            options->during = read_pattern("--during", expression);
          },
          "In place of waits for data: while spans of the host ran in whose name this is found")
      ->type_name("REGEX")
      ->group("Rows");
  command->add_flag("--by-rank", options->by_rank, "One row for each counter and rank")
      ->group("Rows");
  command->add_flag("--all", options->all, "Also counters that are 0 all the time")->group("Rows");
  set_examples(*command, {{"is the CPU busy while the loop waits?", "trace-stats host traces/"},
                          {"and during the backward pass",
                           "trace-stats host traces/ --during event/backward"}});
}

}  // namespace traceloom
