// trace-stats launch: whether the host launches work fast enough.
#include "analysis/reports/launch_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {

void add_launch(CLI::App& app, Work& work) {
  const auto options = std::make_shared<LaunchOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "launch",
       .help =
           "Whether the host launches work fast enough, by stream. A launch is what one call gave "
           "to one stream, of a CUDA graph many pieces of work. Its delay is the time from the end "
           "of the call to the begin of its first piece (0 when that began earlier); late is more "
           "than 100 us. It is short when the device does it in less time than the call took, and "
           "a "
           "call is slow that took more than 50 us. The queue is what was launched and has not "
           "begun: its length after each launch and each begin, the share of time in which it was "
           "empty, and the time in which it was full (1024). The host op is the innermost one on "
           "the thread of the call. Calls and work are matched by correlation",
       .count_rows = count_streams},
      [options](const Run& run) { return Answer{launch_report(run, *options)}; });
  command->add_option("--ops", options->op_rows, "Show N host ops that launch short work")
      ->type_name("N")
      ->capture_default_str()
      ->group("Rows");
  set_examples(*command, {{"delays and queues of all ranks", "trace-stats launch traces/"},
                          {"the streams that wait longest",
                           "trace-stats launch rank0.json.gz --sort delay_p99_ns --top 5"}});
}

}  // namespace traceloom
