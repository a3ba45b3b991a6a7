// The run of a tool: errors and exit codes, its team of processes, and the files that end with
// it.
#pragma once

#include "output/file_sink.h"
#include "team/team.h"

#include <functional>
#include <list>
#include <string>

namespace CLI {
// The team of a tool: with --mpi the processes that a launcher started, otherwise the tool alone.
//
//   int main(int argc, char** argv) {
//     return run_in_team({.name = "trace-stats"}, argc, argv, [&] { return run(argc, argv); });
//   }
//   request.team = &tool_team();
//   if (!tool_team().is_first()) return ExitCode::done;      // process 0 has the result

class App;
}  // namespace CLI

namespace traceloom {

// PrivateFolder: a folder of this process for files that end with it.
//
//   PrivateFolder folder;
//   merge_to(folder.path("merged.json"));
//
// Nobody else can read it. The destructor and remove_temporary_files() remove it with the files
// whose paths were asked for; after a SIGKILL the next process of this user does that.

class PrivateFolder {
 public:
  // Below $TMPDIR, or /tmp. Throws Error if it cannot be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  std::string path(const std::string& name);

 private:
  std::string folder_;
  int lock_ = -1;  // held as long as the process lives
  std::list<TemporaryFileEntry> entries_;
};

// run_tool() is the outermost function of every tool. Only it catches exceptions, reports them, and
// chooses the exit code.
//
//   int main(int argc, char** argv) {
//     return run_tool({.name = "trace-merge", .on_interrupt = remove_temporary_files}, [&] {
//       MergeOptions options;
//       return parse_options(argc, argv, options) ? merge(options) : ExitCode::done;
//     });
//   }

enum class ExitCode : int {
  done = 0,
  no = 1,            // the answer is no: a gate failed, or --strict found a loss
  trouble = 2,       // usage, unreadable input, full disk, what was asked cannot be measured
  inconclusive = 3,  // compare --gate: the captures do not show it
};

struct Tool {
  std::string name;  // starts every message on stderr
  // The handler of SIGINT, SIGTERM, SIGHUP and SIGQUIT calls this, so it must be async-signal-safe.
  // Afterwards the signal ends the process as if there were no handler. A signal that was ignored
  // at the start stays ignored.
  void (*on_interrupt)() noexcept = nullptr;
};

// Runs `work` and returns the exit code of main().
//
// - An exception becomes one line on stderr and `trouble`: "trace-merge: rank3.json.gz: byte 8812:
//   string is not closed".
// - ClosedPipe becomes `done` without a message. It is thrown by work whose only answer is its
//   output. Work with another answer (--strict) goes on without a reader and returns that answer
//   (StdoutUse).
// - stdout is flushed before anything is reported. A full disk is `trouble` then, too; a closed
//   pipe does not change the answer.
// - A closed standard stream is replaced by one that cannot be read or written.
// - SIGPIPE is ignored from here on, and in child processes unless they change that.
int run_tool(const Tool& tool, const std::function<ExitCode()>& work);

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
