// `trace-record -- COMMAND...` runs a command, samples the host and the processes of the command,
// and writes the samples as a trace.
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
  std::vector<std::string> words;  // the command and its arguments
};

// Returns the exit code of the command. If a signal ended the command, the same signal ends this
// process. If the command cannot be started, this is reported, no trace is left, and the code is
// 127 or 126, as in a shell. Later problems with the trace are reported and do not change the exit
// code.
ExitCode run_command(const RunOptions& options);

}  // namespace traceloom
