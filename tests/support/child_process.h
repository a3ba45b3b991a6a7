// A part of a test that runs in a process of its own.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <exception>
#include <sys/wait.h>
#include <unistd.h>

namespace traceloom {

// Runs `work` in a child of fork(), which then leaves without destructors or atexit().
template <typename Work>
pid_t start_child(const Work& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child > 0) return child;
  int code = 0;
  try {
    work();
  } catch (const std::exception&) {
    code = 99;
  }
  _exit(code);
}

// The status that waitpid() gives.
inline int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

// Exit code of `work`.
template <typename Work>
int run_child(const Work& work) {
  const int status = wait_for(start_child(work));
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

inline void kill_child(pid_t child) {
  REQUIRE(kill(child, SIGKILL) == 0);
  const int status = wait_for(child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace traceloom
