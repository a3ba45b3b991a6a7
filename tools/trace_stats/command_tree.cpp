// trace-stats tree: what was called within what, by thread, with times of host and devices.
#include "analysis/reports/reports.h"
#include "base/ascii.h"
#include "base/problems.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

namespace traceloom {
namespace {

struct TreeCommandOptions {
  TreeReportOptions report;
  bool folded = false;
};

void read_kinds(const std::string& list, TreeKinds& kinds) {
  read_switches("--kinds", list,
                {{"python", {&kinds.python, &kinds.modules}},
                 {"module", {&kinds.modules}},
                 {"annotation", {&kinds.annotations}},
                 {"op", {&kinds.operators}},
                 {"call", {&kinds.calls}},
                 {"kernel", {&kinds.kernels}}});
}

void read_by(const std::string& list, TreeOptions& tree) {
  read_switches("--by", list, {{"rank", {&tree.by_rank}}, {"thread", {&tree.by_thread}}, {"all"}});
}

TreeMetric read_metric(const std::string& word) {
  if (word == "host") return TreeMetric::host;
  if (word == "device") return TreeMetric::device;
  refuse_word("--metric", word, {"host", "device"});
}

// Reads "1%", "0.5 %" or "1", which is a percentage, too.
double read_min_share(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" %");
  const auto percent = whole_number<double>(std::string_view(text).substr(0, end + 1));
  if (!percent || !(*percent >= 0) || *percent > 100)
    throw UsageError(
        fmt::format("--min-share: '{}' is not a share in percent (try 1% or 0)", text));
  return *percent / 100;
}

void add_tree_options(CLI::App& command, const std::shared_ptr<TreeCommandOptions>& options) {
  command
      .add_option_function<std::string>(
          "--kinds",
          [options](const std::string& list) { read_kinds(list, options->report.tree.kinds); },
          "Spans that are nodes\n"
          "python: Python functions. module: calls of nn.Module among them. annotation: steps, "
          "record_function, events of Composer. op: operators. call: calls of the runtime. kernel: "
          "device work below the node that launched it. The time of other spans belongs to the "
          "nodes around "
          "them.")
      ->type_name("python|module|annotation|op|call|kernel,...")
      ->default_str("python,annotation,op");
  command
      .add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_by(list, options->report.tree); },
          "Make one tree for each of these")
      ->type_name("rank|thread|all,...")
      ->default_str("rank,thread");
  command
      .add_option_function<std::string>(
          "--metric",
          [options](const std::string& word) { options->report.metric = read_metric(word); },
          "Time to sort by, show and write")
      ->type_name("host|device")
      ->default_str("host");
  command
      .add_option_function<std::string>(
          "--min-share",
          [options](const std::string& text) { options->report.min_share = read_min_share(text); },
          "Leave out nodes with a smaller share\n"
          "A node is left out if it has less than this share of the time of the host or of the "
          "devices, or if it is a Python function with less time of its own and one child. 0% "
          "shows all.")
      ->type_name("PERCENT")
      ->default_str("1%");
  command.add_option("--depth", options->report.depth, "Show N levels; 0: all")
      ->type_name("N")
      ->default_str("0");
  command.add_flag("--folded", options->folded,
                   "Write stacks for flame-graph tools\n"
                   "These are flamegraph.pl, speedscope, inferno and others. Each line holds a "
                   "stack and its self time in ns.");
}

void add_tree(CLI::App& app, Work& work) {
  const auto options = std::make_shared<TreeCommandOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "tree",
       .help =
           "What was called within what, as trees or flame graphs\n"
           "Builds a tree for each thread and joins equal stacks. Total time includes the nodes "
           "inside, self time does not, so the self times of a thread add up to its root. Device "
           "time stands below the node that launched the work, or below \"launch not recorded\" "
           "if none is known.",
       .details = true,
       .prepare = [](RunRequest& request) { request.frames = true; }},
      [options](const Run& run) {
        Answer answer{tree_report(run, options->report)};
        if (options->folded) answer.text = folded_stacks(run, options->report);
        return answer;
      });
  add_tree_options(*command, options);
  set_examples(*command,
               {{"where the host's time goes, nodes of 2 % and more",
                 "trace-stats tree rank0.json.gz --min-share 2%"},
                {"modules and the device time below them, all ranks as one",
                 "trace-stats tree traces/ --kinds module,annotation --by all --metric device"},
                {"a flame graph of the device time, in whole nanoseconds",
                 "trace-stats tree traces/ --folded --metric device | flamegraph.pl > out.svg"}});
}

const RegisteredCommand kTreeCommand(CommandGroup::time, 30, add_tree);

}  // namespace
}  // namespace traceloom
