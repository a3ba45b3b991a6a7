// The team of a tool: with --mpi the processes that a launcher started, otherwise the tool alone.
//
//   int main(int argc, char** argv) {
//     return run_in_team({.name = "trace-stats"}, argc, argv, [&] { return run(argc, argv); });
//   }
//   request.team = &tool_team();
//   if (!tool_team().is_first()) return ExitCode::done;      // process 0 has the result
#pragma once

#include "common/run_tool.h"
#include "team/team.h"

#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace traceloom {

// Does what run_tool() does, in the team that the command line asks for. Only process 0 writes to
// stdout and stderr, and all processes return its exit code. Without --mpi it refuses to run as one
// of several processes that a launcher of MPI started, and with --mpi as one of several that MPI
// did not join, since each would write the same output; TRACELOOM_ALONE=1 allows both. Help and the
// version are shown by each process that is asked for them, whatever started it.
int run_in_team(const Tool& tool, int argc, char** argv, const std::function<ExitCode()>& work);

// Returns the team of run_in_team(); a team of one before.
Team& tool_team();

// Adds --mpi to the options that the tool shows; run_in_team() has read it.
void add_mpi(CLI::App& app);

// Returns how many processes a launcher of MPI started, by the environment that it gives them; 1 if
// there is none.
int launched_processes(const std::function<const char*(const char*)>& environment);
// Returns true if srun started several processes without a way to find each other (--mpi=none,
// which is the default of many sites). Open MPI would end each of them with other advice.
bool lacks_mpi(const std::function<const char*(const char*)>& environment);

}  // namespace traceloom
