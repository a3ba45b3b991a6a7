// trace-stats memcpy: what devices copy and fill, and how fast.
#include "analysis/reports/memcpy_report.h"
#include "common/help_formatter.h"
#include "common/switch_list.h"
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

}  // namespace

void add_memcpy(CLI::App& app, Work& work) {
  const auto options = std::make_shared<MemcpyOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "memcpy",
       .help =
           "What devices copy and fill (memset), by kind and memory: time, bytes, and GB/s (1e9 "
           "bytes a second) of all (bytes by time) and of the transfers one by one. A bandwidth is "
           "what "
           "the event says, else its bytes by its duration, else none. Exposed is the time in "
           "which nothing "
           "computes or communicates on the same device",
       .details = true},
      [options](const Run& run) { return Answer{memcpy_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_by(list, *options); },
          "One row for each kind and: rank, device")
      ->type_name("LIST")
      ->group("Rows");
  set_examples(*command, {{"all transfers", "trace-stats memcpy traces/"},
                          {"the slowest of each rank",
                           "trace-stats memcpy traces/ --by rank --sort gbps_p50"}});
}

}  // namespace traceloom
