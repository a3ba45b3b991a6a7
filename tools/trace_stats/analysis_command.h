// The parts that all analyses of trace-stats share: options, reading the run, writing the report.
//
//   CLI::App* command = add_analysis(app, work, {.name = "gpu", .help = "How busy ..."},
//                                    [](const Run& run) { return Answer{gpu_report(run)}; });
//   set_examples(*command, {...});                    // and options of its own
#pragma once

#include "analysis/report.h"
#include "input/input_list.h"
#include "trace_stats/commands.h"
#include "trace_stats/row_limit.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct Answer {
  Report report;
  bool is_no = false;                    // a gate failed: exit code 1
  bool is_loss = false;                  // of files other than traces; see --strict
  std::optional<std::string> text = {};  // written instead of the report
};

struct AnalysisCommand {
  std::string name;
  std::string help;                               // lists of commands show its first line
  bool details = false;                           // RunRequest::details
  bool samples = false;                           // RunRequest::samples
  bool python = false;                            // RunRequest::python
  bool spread = false;                            // RunRequest::spread: the analysis reads events
                                                  // in per_rank() and its like alone
  bool takes_mesh = false;                        // it has --mesh
  bool by_mesh = false;                           // it has --mesh and --by
  std::function<void(RunRequest&)> prepare = {};  // adds what the options require
  // Gets the files of memory that the arguments stand for. If no trace is left, the run is empty.
  std::function<void(std::vector<OtherFile>)> take_memory = {};
  // Returns inputs that options name, as further arguments after TRACE.
  std::function<std::vector<std::string>()> more_inputs = {};
  // Returns whether there are gates. If there are, a selection that matches nothing is trouble.
  std::function<bool()> has_gates = {};
  // Counts the rows before they are made, if a trace may ask for any number of them. The command
  // then has --max-rows.
  std::function<void(const Run&, RowLimit&)> count_rows = {};
  // The rows that --top shows unless it is given, 0 for all; and what gets that number, if the
  // analysis needs it.
  std::int64_t top = 0;
  std::function<void(std::int64_t)> take_top = {};
  // The answer is a page (Answer::text) and no tables: the command has no options of tables, and
  // refuses to write to a terminal.
  bool is_page = false;
  // Gets the request, and the inputs and the selection as they were typed, as words for a shell,
  // before the run is read.
  std::function<void(const RunRequest&, const std::string&)> take_request = {};
  // May take from the run what no answer needs.
  std::function<void(Run&)> take_run = {};
  // Returns other work if options ask for it; then no TRACE is needed.
  std::function<Task()> instead = {};
  // Returns whether the page is served: then it is not written to stdout.
  std::function<bool()> is_served = {};
  // Called when the page was written.
  std::function<void()> after = {};
};

// The analysis that a command line asks for, in its parts. Tests run it on runs of their own.
struct Analysis {
  std::function<RunRequest()> request;       // the run to read
  std::function<Answer(const Run&)> answer;  // refuses too many rows, then analyses
};

// Returns the word as a shell reads it: in quotes unless it has only usual characters.
std::string shell_word(const std::string& word);

// Throws UsageError if the page would go to a terminal.
void refuse_page_on_terminal(const std::string& output);

// Says that a page was written.
void say_page(const std::string& path);

// Adds the command with the options that all analyses have: inputs, --rank, --steps, --time, --top,
// --sort, --unit, --format, -o and so on. --top and --sort apply to the first table.
CLI::App* add_analysis(CLI::App& app, Work& work, const AnalysisCommand& what,
                       std::function<Answer(const Run&)> analyse);

}  // namespace traceloom
