// `trace-record demo`: a small data-parallel training, recorded.
#pragma once

#include "common/run_tool.h"
#include "trace_record/demo_options.h"

#include <memory>

namespace CLI {
class App;
}

namespace traceloom {

// Adds the command and its options to those of trace-record.
void add_demo(CLI::App& app, DemoOptions& options);

// Runs it: a process for each rank, which ends when all have ended. When one fails the others are
// ended, and `trouble` is the answer.
ExitCode run_demo(DemoOptions options);

}  // namespace traceloom
