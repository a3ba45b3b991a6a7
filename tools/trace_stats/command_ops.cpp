// trace-stats ops: which operators take the time.
#include "analysis/reports/reports.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace traceloom {
namespace {

void read_ops_by(const std::string& list, OpsOptions& by) {
  read_switches("--by", list,
                {{"name", {&by.by_name}},
                 {"type", {&by.by_type}},
                 {"shape", {&by.by_shape}},
                 {"args", {&by.by_arguments}},
                 {"thread", {&by.by_thread}},
                 {"rank", {&by.by_rank}}});
}

// Counts the rows by the fields of each event. The type of work follows from the name, so it adds
// none.
void count_operators(const Run& run, const OpsOptions& by, RowLimit& limit) {
  const bool arguments = by.by_shape || by.by_arguments;
  limit.add_ranks(run, [&](const RankEvents& rank, const RowLimit::AddKey& add) {
    rank.for_each_operator([&](const OperatorSpan& span) {
      add({by.by_rank ? rank.rank : 0, by.by_name ? std::int64_t{span.label} : 0,
           arguments ? std::int64_t{span.arguments} : 0,
           by.by_thread ? std::int64_t{span.track} : 0});
    });
  });
}

void add_ops(CLI::App& app, Work& work) {
  const auto options = std::make_shared<OpsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "ops",
       .help =
           "Which operators take the time, on the host and on devices\n"
           "An operator is a span of the category cpu_op. Self time leaves out the operators and "
           "runtime calls inside it. Device work belongs to the operator that launched it. "
           "Percentiles refer to the operator's time on the host. TC is the share of kernel time "
           "in kernels whose names indicate tensor cores.",
       .details = true,
       .spread = true,
       .prepare =
           [options](RunRequest& request) {
             request.arguments = options->by_shape || options->by_arguments;
           },
       .count_rows = [options](const Run& run,
                               RowLimit& limit) { count_operators(run, *options, limit); }},
      [options](const Run& run) { return Answer{ops_report(run, *options)}; });
  command
      ->add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_ops_by(list, *options); },
          "Make one row for each combination of these\n"
          "type: gemm, conv, attention, norm, elementwise, reduce, triton, communication, ... "
          "shape: the input shapes; args: types, strides and values as well.")
      ->type_name("name|type|shape|args|thread|rank,...")
      ->default_str("name");
  set_examples(
      *command,
      {{"the host's slowest operators", "trace-stats ops traces/ --sort host_self_ns --top 20"},
       {"matrix products by shape", "trace-stats ops rank0.json.gz --by type,name,shape"}});
}

const RegisteredCommand kOpsCommand(CommandGroup::time, 20, add_ops);

}  // namespace
}  // namespace traceloom
