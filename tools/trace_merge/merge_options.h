// The command line of trace-merge: what was typed, and what it asks for.
#pragma once

#include "common/report_problems.h"
#include "merge/merger.h"
#include "trace_merge/recover_inputs.h"

#include <string>
#include <vector>

namespace traceloom {

struct MergeCommand {
  MergeOptions merge;
  std::string report;  // where the report goes; empty: nowhere
  bool strict = false;
  std::vector<KeptJournal> kept_journals;  // that --recover could not use
  Verbosity verbosity = Verbosity::normal;
};

// False when only the help or the version was asked for. With --recover it recovers, and tells
// what, before it looks for inputs. Throws UsageError.
bool read_command_line(int argc, const char* const* argv, MergeCommand& command);

}  // namespace traceloom
