// Reads the command line of trace-merge.
#pragma once

#include "common/report_problems.h"
#include "common/serve.h"
#include "merge/merger.h"
#include "trace_merge/recover_inputs.h"

#include <string>
#include <vector>

namespace traceloom {

struct MergeCommand {
  MergeOptions merge;
  std::string report;  // the file for the report; empty if none is wanted
  bool strict = false;
  Serving serving;                         // an empty output is served and not kept
  std::vector<KeptJournal> kept_journals;  // journals that --recover could not use
  Verbosity verbosity = Verbosity::normal;
};

// Returns false if there is nothing to merge: only the help or the version was asked for, or
// --recover found nothing. With --recover it first recovers traces and reports them, and then looks
// for inputs. Throws UsageError.
bool read_command_line(int argc, const char* const* argv, MergeCommand& command);

}  // namespace traceloom
