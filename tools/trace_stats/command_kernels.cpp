// trace-stats kernels: which kernels take the time of the devices.
#include "analysis/kernels_report.h"
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

KernelsOptions read_options(const std::string& list) {
  KernelsOptions options;
  for (const std::string& word : split_words(list)) {
    if (word == "op")
      options.by_operator = true;
    else if (word == "launch")
      options.by_launch = true;
    else if (word == "rank")
      options.by_rank = true;
    else if (word != "name")
      throw UsageError(fmt::format("--by: '{}' is not one of name, op, launch, rank{}", word,
                                   did_you_mean(word, {"name", "op", "launch", "rank"})));
  }
  return options;
}

}  // namespace

void add_kernels(CLI::App& app, Work& work) {
  const auto options = std::make_shared<KernelsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "kernels",
       .help =
           "Which kernels take the time of the devices, collectives too: nsys' columns, blocks per "
           "SM and occupancy (means by duration), and whether their names say tensor cores (TC). "
           "JSON has the share of short kernels (less than 10 us) and of tensor cores",
       .details = true},
      [options](const Run& run) { return Answer{kernels_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { *options = read_options(list); },
          "One row for each name and: op (the operator that launched it), launch (grid, block, "
          "registers, shared memory), rank")
      ->type_name("LIST")
      ->group("Rows");
  set_examples(*command, {{"the ten that take the most", "trace-stats kernels traces/ --top 10"},
                          {"by operator and launch configuration",
                           "trace-stats kernels rank0.json.gz --by op,launch"}});
}

}  // namespace traceloom
