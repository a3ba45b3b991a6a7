// trace-stats memcpy: what devices copy and fill, and how fast.
#include "analysis/memcpy_report.h"
#include "base/error.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"
#include "common/selection_options.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

namespace traceloom {
namespace {

MemcpyOptions read_options(const std::string& list) {
  MemcpyOptions options;
  for (const std::string& word : split_words(list)) {
    if (word == "rank")
      options.by_rank = true;
    else if (word == "device")
      options.by_device = true;
    else if (word != "kind")
      throw UsageError(fmt::format("--by: '{}' is not one of kind, rank, device{}", word,
                                   did_you_mean(word, {"kind", "rank", "device"})));
  }
  return options;
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
          "--by", [options](const std::string& list) { *options = read_options(list); },
          "One row for each kind and: rank, device")
      ->type_name("LIST")
      ->group("Rows");
  set_examples(*command, {{"all transfers", "trace-stats memcpy traces/"},
                          {"the slowest of each rank",
                           "trace-stats memcpy traces/ --by rank --sort gbps_p50"}});
}

}  // namespace traceloom
