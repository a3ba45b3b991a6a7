// trace-stats steps: each step's time split into roles.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {
namespace {

void add_steps(CLI::App& app, Work& work) {
  const auto options = std::make_shared<StepsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "steps",
       .help =
           "How each training step's time splits into roles\n"
           "Each instant of a step counts for the first role that covers it: kernel, memcpy, "
           "memset, communication, runtime, dataloader, cpu, host_code (Python functions), other. "
           "The roles therefore add up to the step, and communication and dataloader are the "
           "parts that no kernel hides.",
       .python = true,
       .spread = true,
       .by_mesh = true},
      [options](const Run& run) { return Answer{steps_report(run, *options)}; });
  command->add_flag("--raw", options->raw,
                    "Also show each role whether another hides it or not, so that columns overlap");
  set_examples(*command, {{"steps 10 to 20 of rank 0, in milliseconds",
                           "trace-stats steps traces/ --rank 0 --steps 10:20 --unit ms"},
                          {"the slowest steps of all ranks",
                           "trace-stats steps traces/ --sort total_ns --top 10"}});
}

const RegisteredCommand kStepsCommand(CommandGroup::time, 10, add_steps);

}  // namespace
}  // namespace traceloom
