// trace-stats: what the events of many ranks' traces say about the run.
#include "common/parse.h"
#include "common/run_tool.h"
#include "output/file_sink.h"
#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace traceloom;

int main(int argc, char** argv) {
  return run_tool({.name = kToolName, .on_interrupt = remove_temporary_files}, [&] {
    CLI::App app("Statistics of Chrome JSON traces: of one rank, of many, or merged");
    set_up(app, kToolName);
    Work work;
    add_summarize(app, work);
    app.require_subcommand(0, 1);
    if (!parse(app, argc, argv)) return ExitCode::done;
    if (work) return work();
    fmt::print("{}", app.help());
    return ExitCode::done;
  });
}
