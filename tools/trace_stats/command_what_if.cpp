// trace-stats what-if: what a job would gain if operations took as long as their like.
#include "analysis/job/job_reports.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace traceloom {
namespace {

// Splits at ';', as the column --set of pairs has them, but not at '\;' in the name of a kernel.
std::vector<std::string> changes_in(const std::string& text) {
  std::vector<std::string> changes(1);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == ';' && (i == 0 || text[i - 1] != '\\'))
      changes.emplace_back();
    else
      changes.back() += text[i];
  return changes;
}

void add_what_if(CLI::App& app, Work& work) {
  struct Settings {
    WhatIfOptions coarse;
    std::vector<std::string> set;
  };
  const auto settings = std::make_shared<Settings>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "what-if",
       .help =
           "What a repair would gain for the whole job\n"
           "Replays the steps of all ranks with other durations. Without --set: a list of what "
           "each repair alone would gain, and the best pairs. Coarse time lines (whole passes of "
           "micro-batches) are run again with the duration that is usual for each kind.",
       // The reports read events in per_rank() and its like alone.
       .spread = true,
       .takes_mesh = true},
      [settings](const Run& run) {
        WhatIfRequest request;
        for (const std::string& text : settings->set)
          for (const std::string& change : changes_in(text))
            request.set.push_back(Repair::parse(change));
        return Answer{what_if_report(run, settings->coarse, request)};
      });
  command
      ->add_option("--set", settings->set,
                   "Change this: 'rank 5 = median' (stage, link, group)\n"
                   "Also 'kernel flash.* = -20%', or what takes no time: 'loader = 0', "
                   "'collectives = 0', 'messages = 0', 'communication = 0', 'launch = 0', 'tp = 0' "
                   "(dp, ep, ...). Repeat it for changes that are made together.")
      ->type_name("CHANGE")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option_function<std::string>(
          "--without-steps",
          [settings](const std::string& list) {
            settings->coarse.without_steps = read_ranks("--without-steps", list, "steps");
          },
          "Of a coarse time line, leave out these steps: 31,40-42")
      ->type_name("LIST");
  set_examples(*command,
               {{"what each repair would gain", "trace-stats what-if traces/"},
                {"a rank like the others, and no waiting for data",
                 "trace-stats what-if traces/ --set 'rank 5 = median' --set 'loader = 0'"},
                {"a coarse time line without two steps",
                 "trace-stats what-if timeline.json.gz --without-steps 31,32"}});
}

const RegisteredCommand kWhatIfCommand(CommandGroup::time, 120, add_what_if);

}  // namespace
}  // namespace traceloom
