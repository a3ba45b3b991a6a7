// run_tool() is the outermost function of every tool. Only it catches exceptions, reports them, and
// chooses the exit code.
//
//   int main(int argc, char** argv) {
//     return run_tool({.name = "trace-merge", .on_interrupt = remove_temporary_files}, [&] {
//       MergeOptions options;
//       return parse_options(argc, argv, options) ? merge(options) : ExitCode::done;
//     });
//   }
#pragma once

#include <functional>
#include <string>

namespace traceloom {

enum class ExitCode : int {
  done = 0,
  no = 1,            // the answer is no: a gate failed, or --strict found a loss
  trouble = 2,       // usage, unreadable input, full disk
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
// pipe
//   does not change the answer.
// - A closed standard stream is replaced by one that cannot be read or written.
// - SIGPIPE is ignored from here on, and in child processes unless they change that.
int run_tool(const Tool& tool, const std::function<ExitCode()>& work);

}  // namespace traceloom
