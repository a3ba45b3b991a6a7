// The commands of trace-stats, one file each: command_<name>.cpp.
//
// To add one, write its file and add a line here, in main.cpp and in tools/CMakeLists.txt. A
// command adds itself to the app, and sets `work` if the command line names it.
#pragma once

#include "common/run_tool.h"

#include <functional>

namespace CLI {
class App;
}

namespace traceloom {

inline constexpr char kToolName[] = "trace-stats";

using Work = std::function<ExitCode()>;

void add_baseline(CLI::App& app, Work& work);
void add_bottleneck(CLI::App& app, Work& work);
void add_dataloader(CLI::App& app, Work& work);
void add_check(CLI::App& app, Work& work);
void add_compare(CLI::App& app, Work& work);
void add_comm(CLI::App& app, Work& work);
void add_digest(CLI::App& app, Work& work);
void add_gpu(CLI::App& app, Work& work);
void add_host(CLI::App& app, Work& work);
void add_idle(CLI::App& app, Work& work);
void add_info(CLI::App& app, Work& work);
void add_kernels(CLI::App& app, Work& work);
void add_launch(CLI::App& app, Work& work);
void add_memcpy(CLI::App& app, Work& work);
void add_memory(CLI::App& app, Work& work);
void add_ops(CLI::App& app, Work& work);
void add_report(CLI::App& app, Work& work);
void add_steps(CLI::App& app, Work& work);
void add_stragglers(CLI::App& app, Work& work);
void add_summarize(CLI::App& app, Work& work);
void add_tree(CLI::App& app, Work& work);

}  // namespace traceloom
