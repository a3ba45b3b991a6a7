// What all analyses of trace-stats share: options, reading the run, writing the report.
//
//   CLI::App* command = add_analysis(app, work, {.name = "gpu", .help = "How busy ..."},
//                                    [](const Run& run) { return Answer{gpu_report(run)}; });
//   set_examples(*command, {...});                    // and options of its own
#pragma once

#include "analysis/report.h"
#include "trace_stats/commands.h"
#include "trace_stats/row_limit.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct Answer {
  Report report;
  bool is_no = false;                    // a gate failed: exit code 1
  bool is_unknown = false;               // else, a gate could not be measured: exit code 2
  std::optional<std::string> text = {};  // what is written instead of the report
};

struct AnalysisCommand {
  std::string name;
  std::string help;                               // its first line is what a list of commands shows
  bool details = false;                           // RunRequest::details
  bool samples = false;                           // RunRequest::samples
  bool python = false;                            // RunRequest::python
  std::function<void(RunRequest&)> prepare = {};  // what else has to be read, by what was typed
  // Takes out of the arguments what is no trace, before they are expanded. When no argument is left
  // the run is empty.
  std::function<void(std::vector<std::string>&)> take_arguments = {};
  // Whether gates were typed: then a selection that matches nothing is trouble.
  std::function<bool()> has_gates = {};
  // What gets a row each, where a trace may say any number of that: then there is --max-rows.
  std::function<void(const Run&, RowLimit&)> count_rows = {};
};

// Adds the command with the options that all analyses have: inputs, --rank, --steps, --time, --top,
// --sort, --unit, --format, -o and so on. --top and --sort are about the first table.
CLI::App* add_analysis(CLI::App& app, Work& work, const AnalysisCommand& what,
                       std::function<Answer(const Run&)> analyse);

}  // namespace traceloom
