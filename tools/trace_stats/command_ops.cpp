// trace-stats ops: which operators take the time.
#include "analysis/reports/ops_report.h"
#include "common/help_formatter.h"
#include "common/switch_list.h"
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

// By what each event says of itself; the type of work follows from the name.
void count_operators(const Run& run, const OpsOptions& by, RowLimit& limit) {
  const bool arguments = by.by_shape || by.by_arguments;
  for (const RankEvents& rank : run.ranks)
    rank.for_each_operator([&](const OperatorSpan& span) {
      limit.add({by.by_rank ? rank.rank : 0, by.by_name ? std::int64_t{span.label} : 0,
                 arguments ? std::int64_t{span.arguments} : 0,
                 by.by_thread ? std::int64_t{span.track} : 0});
    });
}

}  // namespace

void add_ops(CLI::App& app, Work& work) {
  const auto options = std::make_shared<OpsOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "ops",
       .help =
           "Which operators (category cpu_op) take the time, of the host and of the devices that "
           "they gave work to. Self is without operators and runtime calls inside, which nest by "
           "time on their thread; device work belongs to the operator of the call that launched "
           "it, by correlation: the one whose External id the call has, else the innermost around "
           "it; work whose call was not recorded belongs to the operator whose External id it has. "
           "Percentiles are of an operator's time on the host. TC is the share of kernel time in "
           "kernels whose names say tensor cores. Steps, loaders, Optimizer.* and "
           "DistributedDataParallel.forward are no operators. CSV and JSON have more columns: "
           "launchers (that gave work to a device themselves) and the times of what they gave",
       .details = true,
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
          "One row for each name; type (of work: gemm, conv, attention, norm, elementwise, reduce, "
          "triton, communication, ...); shape (of what it was called with); args (types, strides "
          "and values as well); thread; rank; or several of these [name]")
      ->type_name("LIST")
      ->group("Rows");
  set_examples(
      *command,
      {{"the host's slowest operators", "trace-stats ops traces/ --sort host_self_ns --top 20"},
       {"matrix products by shape", "trace-stats ops rank0.json.gz --by type,name,shape"}});
}

}  // namespace traceloom
