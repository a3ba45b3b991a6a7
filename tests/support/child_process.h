// A part of a test that runs in a process of its own.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace traceloom {

// Address sanitizers of g++ 12 hold no locks of their malloc() over a fork(): a child that is made
// while another thread allocates waits for ever (one run in six of the fork tests on a busy
// machine).
#if TRACELOOM_CHECKS_ADDRESSES
inline bool do_other_threads_sleep() {
  const std::string self = std::to_string(gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::string stat;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    if (stat.find(") S ") == std::string::npos) return false;
  }
  return true;
}

inline void wait_for_other_threads() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!do_other_threads_sleep() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
#else
inline void wait_for_other_threads() {}
#endif

// Whether this process is one that start_child() made.
inline bool is_test_child = false;

// Runs `work` in a child of fork(), which then leaves without destructors or atexit().
template <typename Work>
pid_t start_child(const Work& work) {
  wait_for_other_threads();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child > 0) return child;
  is_test_child = true;
  int code = 0;
  try {
    work();
  } catch (const std::exception&) {
    code = 99;
  }
  _exit(code);
}

// Limits the size of files that the child writes. The limit acts like a full disk: a part is
// written and then nothing. The child exits with 90 if the limit cannot be set.
inline void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(90);
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
