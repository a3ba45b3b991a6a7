// The command line of trace-merge: what was typed, and what it asks for.
#pragma once

#include "common/report_problems.h"
#include "merge/merger.h"

namespace traceloom {

struct MergeCommand {
  MergeOptions merge;
  bool strict = false;
  Verbosity verbosity = Verbosity::normal;
};

// False when only the help or the version was asked for. Throws UsageError.
bool read_command_line(int argc, const char* const* argv, MergeCommand& command);

}  // namespace traceloom
