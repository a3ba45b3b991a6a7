// trace-stats memcpy: what devices copy and fill, and how fast.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {
namespace {

void read_by(const std::string& list, MemcpyOptions& options) {
  read_switches("--by", list,
                {{"kind"}, {"rank", {&options.by_rank}}, {"device", {&options.by_device}}});
}

void add_memcpy(CLI::App& app, Work& work) {
  const auto options = std::make_shared<MemcpyOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "memcpy",
       .help =
           "What devices copy and fill, and how fast\n"
           "Shows time, bytes and bandwidth (1 GB is 1e9 bytes) of copies and fills (memset), by "
           "kind and memory. \"Exposed\" is the time in which the same device neither computes "
           "nor communicates.",
       .details = true,
       .spread = true},
      [options](const Run& run) { return Answer{memcpy_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_by(list, *options); },
          "Make one row for each combination of these")
      ->type_name("kind|rank|device,...")
      ->default_str("kind");
  set_examples(*command, {{"all transfers", "trace-stats memcpy traces/"},
                          {"the slowest of each rank",
                           "trace-stats memcpy traces/ --by rank --sort gbps_p50"}});
}

const RegisteredCommand kMemcpyCommand(CommandGroup::devices, 60, add_memcpy);

}  // namespace
}  // namespace traceloom
