// trace-stats steps: each step's time split into roles.
#include "analysis/reports/steps_report.h"
#include "common/help_formatter.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {

void add_steps(CLI::App& app, Work& work) {
  const auto options = std::make_shared<StepsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "steps",
       .help =
           "Where the time of each step went. Each instant counts for the first role that has it: "
           "kernel, memcpy, memset, communication, runtime, dataloader, cpu, host_code (Python's "
           "functions, with_stack), else other; so roles "
           "add up to the step, and communication and dataloader are what no kernel hides. A step "
           "is ProfilerStep#N, which lasts from the end of the one before it until all that it "
           "launched on devices is done, or the wait for data and event/batch of Composer. Steps "
           "behind the last one with device work are shown and not counted, nor is the last one "
           "with less than 0.8 of the device work of the one before it: the profiler lost it",
       .python = true},
      [options](const Run& run) { return Answer{steps_report(run, *options)}; });
  command
      ->add_flag("--raw", options->raw,
                 "Also each role by itself, whether another hides it or not: columns overlap")
      ->group("Rows");
  set_examples(*command, {{"steps 10 to 20 of rank 0, in milliseconds",
                           "trace-stats steps traces/ --rank 0 --steps 10:20 --unit ms"},
                          {"the slowest steps of all ranks",
                           "trace-stats steps traces/ --sort total_ns --top 10"}});
}

}  // namespace traceloom
