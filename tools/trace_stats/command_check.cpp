// trace-stats check: what is wrong with each file.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

void add_check(CLI::App& app, Work& work) {
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "check",
       .help =
           "What is wrong with each file, and how it was repaired\n"
           "Lists each kind of problem with its count and its first byte offset in the "
           "uncompressed text, losses first, and irregularities of clocks and ranks. Exits with "
           "status 1 if data was lost.",
       .spread = true,
       .prepare =
           [](RunRequest& request) {
             request.arrows = true;
             request.lists_clashes = true;
           }},
      [](const Run& run) {
        CheckAnswer found = check_report(run);
        return Answer{std::move(found.report), found.has_loss};
      });
  set_examples(*command, {{"all files, also those that are no traces",
                           "trace-stats check traces/ --keep-going --format json"}});
}

const RegisteredCommand kCheckCommand(CommandGroup::files, 20, add_check);

}  // namespace
}  // namespace traceloom
