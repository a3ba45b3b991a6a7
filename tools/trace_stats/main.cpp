// trace-stats answers questions about a run from the traces of its ranks.
#include "common/command_line.h"
#include "common/run_tool.h"
#include "output/file_sink.h"
#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>

namespace traceloom {
namespace {

ExitCode run(int argc, char** argv) {
  CLI::App app("Answers questions about a run from the Chrome JSON traces of its ranks");
  set_up(app, kToolName);
  add_mpi(app);
  app.fallthrough();  // --mpi may stand after the command, too
  Work work;
  add_commands(app, work);
  set_examples(app, {{"where to start", "trace-stats bottleneck traces/"}});
  set_page(app, "docs/commands/README.md");
  const char* const ask_for_help[] = {kToolName, "--help"};
  const bool parsed = argc > 1 ? parse(app, argc, argv) : parse(app, 2, ask_for_help);
  return parsed ? work.run() : ExitCode::done;
}

}  // namespace
}  // namespace traceloom

int main(int argc, char** argv) {
  using namespace traceloom;
  return run_in_team({.name = kToolName, .on_interrupt = remove_temporary_files}, argc, argv,
                     [&] { return run(argc, argv); });
}
