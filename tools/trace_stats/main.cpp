// trace-stats answers questions about a run from the traces of its ranks.
#include "common/command_line.h"
#include "common/run_tool.h"
#include "output/file_sink.h"
#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>

#include <vector>

namespace traceloom {
namespace {

// The commands below one heading of --help.
struct CommandGroup {
  const char* title;
  std::vector<void (*)(CLI::App&, Work&)> commands;
};

const CommandGroup kGroups[] = {
    {"What limits the run", {add_bottleneck, add_report, add_stragglers, add_dataloader}},
    {"Where time goes", {add_steps, add_ops, add_tree, add_summarize, add_compare, add_baseline}},
    {"Devices, memory and host",
     {add_gpu, add_idle, add_launch, add_kernels, add_comm, add_memcpy, add_memory, add_host}},
    {"Trace files", {add_info, add_check, add_digest}},
};

void add_commands(CLI::App& app, Work& work) {
  for (const CommandGroup& group : kGroups)
    for (const auto add : group.commands) {
      add(app, work);
      app.get_subcommands([](const CLI::App*) { return true; }).back()->group(group.title);
    }
  app.require_subcommand(1);
}

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
  return parsed ? work() : ExitCode::done;
}

}  // namespace
}  // namespace traceloom

int main(int argc, char** argv) {
  using namespace traceloom;
  return run_in_team({.name = kToolName, .on_interrupt = remove_temporary_files}, argc, argv,
                     [&] { return run(argc, argv); });
}
