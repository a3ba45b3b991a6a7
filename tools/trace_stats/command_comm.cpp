// trace-stats comm: how fast collectives are, and who comes late to them.
#include "analysis/reports/comm_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {

void add_comm(CLI::App& app, Work& work) {
  const auto options = std::make_shared<CommOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "comm",
       .help =
           "How fast collectives are, by name, type, size and process group. Those of several "
           "ranks are matched by group (its name, description and ranks) and Seq, else by their "
           "order among those that are alike, a send with its receive. Kernels that do not say how "
           "much they move have the bytes of the operator that launched them. Latency is the "
           "shortest time that a rank spent in one (all leave together), wait what others spent "
           "beyond it, or of a rank until the last one started, where the clocks agree: where some "
           "leave "
           "before others come, they do not. Skews are those of starts and ends. Algorithm "
           "bandwidth "
           "is "
           "bytes (in, of gathers out) by latency, bus bandwidth that times 2(n-1)/n for "
           "all-reduce "
           "and (n-1)/n for all-gather, reduce-scatter and all-to-all; GB is 1e9 bytes, GiB 2^30. "
           "Busy counts each instant "
           "of a rank once; transfer is the last part of each collective, as long as the latency, "
           "and waiting is the rest (tb_plugin's view)",
       .details = true},
      [options](const Run& run) { return Answer{comm_report(run, *options)}; });
  command->add_flag("--each", options->each, "Also all matched collectives, one by one")
      ->group("Rows");
  set_examples(*command, {{"the collectives that take longest",
                           "trace-stats comm traces/ --sort latency_ns --top 10"}});
}

}  // namespace traceloom
