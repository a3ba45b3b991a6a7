// `trace-record demo` runs a small data-parallel training and records it.
#pragma once

#include "common/run_tool.h"
#include "trace_record/demo_options.h"

#include <memory>

namespace CLI {
class App;
}

namespace traceloom {

// Adds the command and its options to trace-record.
void add_demo(CLI::App& app, DemoOptions& options);

// Runs a process for each rank and waits until all have ended. If one fails, it kills the others
// and returns `trouble`.
ExitCode run_demo(DemoOptions options);

}  // namespace traceloom
