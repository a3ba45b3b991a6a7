// `trace-record -- COMMAND...`: runs a command and samples the host and what the command's
// processes use, as a trace.
#pragma once

#include "common/run_tool.h"
#include "trace_record/trace_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct RunOptions {
  TraceOptions trace{.folder = "traces", .file_name = "host-node{node_rank}.json"};
  std::int64_t rank = record::kFromEnvironment;
  std::vector<std::string> words;  // of the command
};

// The exit code is the command's; one that a signal ended ends this process by the same signal. A
// command that cannot be started is told, leaves no trace, and gives 127 or 126, as in a shell.
// What is wrong with the trace once the command runs is told, and changes no exit code.
ExitCode run_command(const RunOptions& options);

}  // namespace traceloom
