// The commands of trace-record: one that runs a program and samples it, and the demo.
#pragma once

#include "common/run_tool.h"
#include "trace_record/trace_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
// `trace-record demo` runs a small data-parallel training and records it.

class App;
}  // namespace CLI

namespace traceloom {

// `trace-record -- COMMAND...` runs a command, samples the host and the processes of the command,
// and writes the samples as a trace.

struct RunOptions {
  TraceOptions trace{.folder = "traces", .file_name = "host-node{node_rank}.json"};
  std::int64_t rank = record::kFromEnvironment;
  std::vector<std::string> words;  // the command and its arguments
};

// Returns the exit code of the command. If a signal ended the command, the same signal ends this
// process. If the command cannot be started, this is reported, no trace is left, and the code is
// 127 or 126, as in a shell. Later problems with the trace are reported and do not change the exit
// code.
ExitCode run_command(const RunOptions& options);

// Adds the command and its options to trace-record.
void add_demo(CLI::App& app, DemoOptions& options);

// Runs a process for each rank and waits until all have ended. If one fails, it kills the others
// and returns `trouble`.
ExitCode run_demo(DemoOptions options);

}  // namespace traceloom
