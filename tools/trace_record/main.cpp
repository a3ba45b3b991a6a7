// trace-record runs a command under the host sampler, or a small training that records itself.
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "output/file_sink.h"
#include "trace_record/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

constexpr char kTool[] = "trace-record";
constexpr std::string_view kEndOfOptions = "--";

void add_run_options(CLI::App& app, RunOptions& options) {
  add_trace_options(app, options.trace);
  add_number(app, "--rank", options.rank, 0, 1'000'000'000,
             "Show the counters with this rank\n"
             "The default is the rank of torchrun, Open MPI or Slurm, else 0.",
             kTraceGroup);
  set_examples(
      app, {{"a training on this machine; the trace merges with those of its ranks",
             "trace-record -o traces -- torchrun --nproc-per-node 8 train.py"},
            {"a build, sampled ten times a second", "trace-record --interval 100ms -- make -j8"},
            {"a small training of our own, to try the tools on", "trace-record demo"}});
  set_synopsis(app, "[options] -- COMMAND...");
  set_page(app, "docs/commands/trace-record.md");
}

// Splits the words at "--": returns those before it and puts those after it into `command`.
std::vector<const char*> take_command(int argc, const char* const* argv,
                                      std::vector<std::string>& command) {
  const char* const* const end = argv + argc;
  const char* const* const split =
      std::find_if(argv, end, [](const char* word) { return word == kEndOfOptions; });
  if (split != end) command.assign(split + 1, end);
  return {argv, split};
}

// Refuses "trace-record make -j8": without "--" it is unclear whose options these are.
void refuse_bare_command(const std::vector<const char*>& words) {
  if (words.size() < 2 || words[1][0] == '-' || words[1] == std::string_view("demo")) return;
  throw UsageError(fmt::format("'{0}' is not an option; put a command after --: {1} -- {0}{2}",
                               words[1], kTool,
                               did_you_mean(words[1], std::vector<std::string>{"demo"})));
}

ExitCode run(int argc, const char* const* argv) {
  CLI::App app(
      "Runs a command and records what the machine does meanwhile\n"
      "Samples CPU, memory, disks and network of the host, and CPU and memory of all processes of "
      "the command, as counters of a Chrome JSON trace. Passes signals on to the command and exits "
      "with its status; with 127 if the command is not found, or 126 if it cannot be run.");
  set_up(app, kTool);
  RunOptions run;
  DemoOptions demo;
  add_run_options(app, run);
  add_demo(app, demo);
  std::vector<const char*> words = take_command(argc, argv, run.words);
  refuse_bare_command(words);
  if (argc < 2) words.push_back("--help");
  if (!parse(app, static_cast<int>(words.size()), words.data())) return ExitCode::done;
  if (app.got_subcommand("demo") && !run.words.empty())
    throw UsageError(fmt::format("demo takes no command; leave out '-- {}'", run.words.front()));
  if (app.got_subcommand("demo")) return run_demo(demo);
  if (run.words.empty())
    throw UsageError("no command to run; put it after --: trace-record -- python train.py");
  return run_command(run);
}

}  // namespace
}  // namespace traceloom

int main(int argc, char** argv) {
  using namespace traceloom;
  return run_tool({.name = kTool, .on_interrupt = remove_temporary_files},
                  [&] { return run(argc, argv); });
}
