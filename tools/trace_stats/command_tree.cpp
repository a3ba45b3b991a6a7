// trace-stats tree: what was called within what, by thread, with times of host and devices.
#include "analysis/reports/tree_report.h"
#include "base/error.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"
#include "common/switch_list.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
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

// "1%" or "0.5 %"; a number alone is in percent as well.
double read_min_share(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" %");
  const std::string_view number = std::string_view(text).substr(0, end + 1);
  double percent = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc{} || stop != number.data() + number.size() || !(percent >= 0) ||
      percent > 100)
    throw UsageError(fmt::format("--min-share: '{}' is no share in percent; try 1% or 0", text));
  return percent / 100;
}

void add_tree_options(CLI::App& command, const std::shared_ptr<TreeCommandOptions>& options) {
  const std::string group = "Tree";
  command
      .add_option_function<std::string>(
          "--kinds",
          [options](const std::string& list) { read_kinds(list, options->report.tree.kinds); },
          "Which spans are nodes: python (functions), module (of these nn.Module's calls only), "
          "annotation (steps, record_function, Composer's events), op, call (of the runtime), "
          "kernel (device work below what launched it); the time of others is their parents' own "
          "[python,annotation,op]")
      ->type_name("LIST")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--by", [options](const std::string& list) { read_by(list, options->report.tree); },
          "One tree for each rank, thread, or all: equal stacks of what is not told apart are one "
          "[rank,thread]")
      ->type_name("LIST")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--metric",
          [options](const std::string& word) { options->report.metric = read_metric(word); },
          "What children are sorted by, what is shown with shares and selves, and what --folded "
          "writes: host or device; CSV and JSON have both [host]")
      ->type_name("TIME")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--min-share",
          [options](const std::string& text) { options->report.min_share = read_min_share(text); },
          "Show nodes that have this share of the time of the host or of devices, but no functions "
          "of Python that have less by themselves and one child; 0% shows all [1%]")
      ->type_name("PERCENT")
      ->group(group);
  command
      .add_option("--depth", options->report.depth,
                  "Show this many levels, roots are the first; 0 shows all [0]")
      ->type_name("N")
      ->group(group);
  command
      .add_flag("--folded", options->folded,
                "Write stacks for flame-graph tools (flamegraph.pl, speedscope, inferno) instead: "
                "'rank 0, thread 7;a;b 1200', own time in nanoseconds, all nodes")
      ->group(group);
}

}  // namespace

void add_tree(CLI::App& app, Work& work) {
  const auto options = std::make_shared<TreeCommandOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "tree",
       .help =
           "What was called within what: a tree for each thread, equal stacks together. Spans of a "
           "thread nest by time, and steps are one node; total is with, self is without the nodes "
           "inside, so that the "
           "selves of a thread add up to its root. Device time stands below the node around the "
           "call that launched it, found by correlation, else below the operator whose External id "
           "it has, else below a root 'launch not recorded'. A span that crosses the end of the "
           "one that it starts in stands beside it, and what both share counts for the earlier one",
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

}  // namespace traceloom
