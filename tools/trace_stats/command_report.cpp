// trace-stats report: a page that a person opens in a browser.
#include "common/help_formatter.h"
#include "input/input_list.h"
#include "page/page.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace traceloom {
namespace {

// The size of what comes through a pipe is not known, and it cannot be read again.
void read_tree(RunRequest request, PageOptions& options) {
  if (stored_bytes(request.inputs) == 0) return;
  prepare_for_page_tree(request);
  options.tree = make_page_tree(read_run(request));
}

}  // namespace

void add_report(CLI::App& app, Work& work) {
  const auto options = std::make_shared<PageOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "report",
       .help =
           "One page for a browser: the verdict, where time goes, a timeline\n"
           "Writes one HTML file of at most 2 MB, which needs no network and no other file. It has "
           "the numbers of the other commands, each beside the command that prints it: what limits "
           "the run, ranks and steps, communication, devices, kernels, operators, calls, memory, "
           "clocks, and a timeline to zoom into.",
       .prepare = prepare_for_page,
       .is_page = true,
       .take_request =
           [options](const RunRequest& request, const std::string& words) {
             options->arguments = words;
             read_tree(request, *options);
           }},
      [options](const Run& run) {
        Answer answer{Report("report", run)};
        answer.text = write_page(run, *options);
        return answer;
      });
  set_examples(*command,
               {{"the page of a run", "trace-stats report traces/ -o report.html"},
                {"of two of its steps", "trace-stats report traces/ --steps 10:11 -o steps.html"}});
}

}  // namespace traceloom
