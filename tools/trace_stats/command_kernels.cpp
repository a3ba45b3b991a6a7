// trace-stats kernels: which kernels take the time of the devices.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {
namespace {

void read_kernels_by(const std::string& list, KernelsOptions& by) {
  read_switches("--by", list,
                {{"name", {&by.by_name}},
                 {"type", {&by.by_type}},
                 {"op", {&by.by_operator}},
                 {"shape", {&by.by_shape}},
                 {"args", {&by.by_arguments}},
                 {"launch", {&by.by_launch}},
                 {"stream", {&by.by_stream}},
                 {"rank", {&by.by_rank}}});
}

// Counts the rows by the fields of each kernel, without looking for the operator that launched it.
void count_kernels(const Run& run, const KernelsOptions& by, RowLimit& limit) {
  constexpr std::int64_t kStreams = std::int64_t{1} << 32;
  limit.add_ranks(run, [&](const RankEvents& rank, const RowLimit::AddKey& add) {
    rank.for_each_device([&](const DeviceSpan& span) {
      add({by.by_rank ? rank.rank : 0, by.by_name ? std::int64_t{span.label} : 0,
           by.by_stream ? span.device * kStreams + span.stream : 0, 0});
    });
  });
}

void add_kernels(CLI::App& app, Work& work) {
  const auto options = std::make_shared<KernelsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "kernels",
       .help =
           "Which kernels take the devices' time\n"
           "Shows the columns of nsys, blocks per SM, occupancy and the share of time in kernels "
           "whose names indicate tensor cores (TC). Collectives are included. CSV and JSON have "
           "more columns, for example short kernels (less than 10 us).",
       .details = true,
       .spread = true,
       .prepare =
           [options](RunRequest& request) {
             request.arguments = options->by_shape || options->by_arguments;
           },
       .count_rows = [options](const Run& run,
                               RowLimit& limit) { count_kernels(run, *options, limit); }},
      [options](const Run& run) { return Answer{kernels_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_kernels_by(list, *options); },
          "Make one row for each combination of these\n"
          "type: gemm, conv, attention, norm, elementwise, reduce, triton, communication, ... op: "
          "the operator that launched the kernel; shape: its input shapes; args: types, strides "
          "and "
          "values as well. launch: grid, block, registers and shared memory.")
      ->type_name("name|type|op|shape|args|launch|stream|rank,...")
      ->default_str("name");
  set_examples(*command,
               {{"the ten that take the most", "trace-stats kernels traces/ --top 10"},
                {"what kinds of work take the time", "trace-stats kernels traces/ --by type"},
                {"by operator and launch configuration",
                 "trace-stats kernels rank0.json.gz --by name,op,launch"}});
}

const RegisteredCommand kKernelsCommand(CommandGroup::devices, 40, add_kernels);

}  // namespace
}  // namespace traceloom
