// command_runs: every command of trace-stats, alone and with the options in
// tests/commands/variants, for tests that take all.
//
//   for (const CommandRun& run : analysis_runs()) check(run.analysis->answer(read(run)));
#pragma once

#include "trace_stats/analysis_command.h"

#include <memory>
#include <string>
#include <vector>

namespace traceloom {

struct CommandRun {
  std::string words;  // "kernels --by type,rank"
  std::shared_ptr<const Analysis> analysis;
};

// Returns what a command line without traces asks for, "kernels --by type,rank"; nullptr if that is
// no analysis. Throws what parsing does.
std::shared_ptr<const Analysis> analysis_of(const std::string& words);

// Returns the runs of the commands that analyse a run, in the order of --help. Commands of another
// kind (compare) are left out.
std::vector<CommandRun> analysis_runs();

}  // namespace traceloom
