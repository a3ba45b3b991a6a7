// trace-stats: what the events of many ranks' traces say about the run.
#include "common/parse.h"
#include "common/run_tool.h"
#include "output/temporary_files.h"
#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>
using namespace traceloom;

int main(int argc, char** argv) {
  return run_tool({.name = kToolName, .on_interrupt = remove_temporary_files}, [&] {
    CLI::App app("Statistics of Chrome JSON traces: of one rank, of many, or merged");
    set_up(app, kToolName);
    Work work;
    add_bottleneck(app, work);
    add_dataloader(app, work);
    add_gpu(app, work);
    add_idle(app, work);
    add_launch(app, work);
    add_memcpy(app, work);
    add_kernels(app, work);
    add_ops(app, work);
    add_comm(app, work);
    add_steps(app, work);
    add_stragglers(app, work);
    add_memory(app, work);
    add_host(app, work);
    add_tree(app, work);
    add_summarize(app, work);
    add_info(app, work);
    add_check(app, work);
    app.require_subcommand(1);
    const char* const ask_for_help[] = {kToolName, "--help"};
    const bool parsed = argc > 1 ? parse(app, argc, argv) : parse(app, 2, ask_for_help);
    return parsed ? work() : ExitCode::done;
  });
}
