// trace-stats what-if: WRITE: what it answers.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {
namespace {

void add_what_if(CLI::App& app, Work& work) {
  const auto settings = std::make_shared<std::vector<std::string>>();
  CLI::App* const command =
      add_analysis(app, work,
                   {.name = "what-if",
                    .help = "WRITE: a line for lists of commands\n"
                            "WRITE: what is counted, for the manual page.",
                    .details = false},
                   [settings](const Run& run) {
                     WhatIfRequest request;
                     for (const std::string& text : *settings)
                       request.set.push_back(Repair::parse(text));
                     return Answer{replay_report(run, request)};
                   });
  command->add_option("--set", *settings, "What is changed: 'rank 5 = median', 'loader = 0'")->type_name("CHANGE")->allow_extra_args(false);
  set_examples(*command, {{"WRITE: what for", "trace-stats what-if traces/"}});
}

const RegisteredCommand kWhatIfCommand(CommandGroup::time, 80, add_what_if);

}  // namespace
}  // namespace traceloom
