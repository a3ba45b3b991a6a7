// run_tool: the edge of every tool. It alone catches, says what went wrong and chooses the exit
// code.
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
  no = 1,       // the answer is no: a gate failed, --strict found loss
  trouble = 2,  // usage, unreadable input, full disk
};

struct Tool {
  std::string name;  // starts every message on stderr
  // Called in the handler of SIGINT, SIGTERM, SIGHUP and SIGQUIT, so it must be async-signal-safe;
  // then the signal ends the process as if there were no handler. A signal that was ignored at the
  // start stays ignored.
  void (*on_interrupt)() noexcept = nullptr;
};

// Runs `work` and returns what main() returns. An exception becomes one line on stderr and
// `trouble`: "trace-merge: rank3.json.gz: byte 8812: string is not closed". ClosedPipe is `done`
// without a word: thrown by work whose answer is what it writes. Work that has an answer beside
// that finishes it (StdoutUse) and returns it; a pipe that closes in the last flush changes no
// answer either. stdout is flushed before anything is said; what cannot be flushed is trouble too.
//
// A standard stream that is closed gets a file that cannot be read or written. SIGPIPE is ignored
// from here on, in child processes too unless they undo it.
int run_tool(const Tool& tool, const std::function<ExitCode()>& work);

}  // namespace traceloom
