// trace-stats kernels: which kernels take the time of the devices.
#include "analysis/kernels_report.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"
#include "common/selection_options.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {
namespace {

KernelsOptions read_kernels_by(const std::string& list) {
  KernelsOptions by;
  by.by_name = false;
  for (const std::string& word : split_words(list)) {
    if (word == "name")
      by.by_name = true;
    else if (word == "type")
      by.by_type = true;
    else if (word == "op")
      by.by_operator = true;
    else if (word == "shape")
      by.by_shape = true;
    else if (word == "args")
      by.by_arguments = true;
    else if (word == "launch")
      by.by_launch = true;
    else if (word == "stream")
      by.by_stream = true;
    else if (word == "rank")
      by.by_rank = true;
    else
      refuse_word("--by", word,
                  {"name", "type", "op", "shape", "args", "launch", "stream", "rank"});
  }
  return by;
}

}  // namespace

void add_kernels(CLI::App& app, Work& work) {
  const auto options = std::make_shared<KernelsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "kernels",
       .help =
           "Which kernels take the time of the devices, collectives too: nsys' columns, blocks per "
           "SM and occupancy (means by duration), and the share of time in kernels whose names say "
           "tensor cores (TC). CSV and JSON have more: the deviation, the share of the devices' "
           "time from first to last work, short kernels (less than 10 us); JSON also the shares of "
           "all short kernels, of tensor cores, and of operators that could use them",
       .details = true,
       .prepare =
           [options](RunRequest& request) {
             request.arguments = options->by_shape || options->by_arguments;
           }},
      [options](const Run& run) { return Answer{kernels_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { *options = read_kernels_by(list); },
          "One row for each name; type (of work: gemm, conv, attention, norm, elementwise, reduce, "
          "triton, communication, ...); op (the operator that launched it); shape (of what that "
          "was called with); args (types, strides and values as well); launch (grid, block, "
          "registers, shared memory); stream; rank; or several of these [name]")
      ->type_name("LIST")
      ->group("Rows");
  set_examples(*command,
               {{"the ten that take the most", "trace-stats kernels traces/ --top 10"},
                {"what kinds of work take the time", "trace-stats kernels traces/ --by type"},
                {"by operator and launch configuration",
                 "trace-stats kernels rank0.json.gz --by name,op,launch"}});
}

}  // namespace traceloom
