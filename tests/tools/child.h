// Runs a function in a child process and reports how it ended and what it printed. It serves tests
// that would disturb the test program itself: signals, a full stdout, exit codes.
//
//   const Ended ended = run_in_child([] { return run_tool({.name = "tool"}, work); });
//   CHECK(ended.err == "tool: …\n");
#pragma once

#include <functional>
#include <string>

namespace traceloom {

struct Ended {
  int exit_code = -1;  // -1: a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  std::string both;  // stdout and stderr in the order in which they were written
};

Ended run_in_child(const std::function<int()>& function);

}  // namespace traceloom
