// Command: a program that runs as a child, and what it used.
//
//   Command command({"python", "train.py"});
//   while (!command.has_ended()) { ... command.forward(signal, info); command.reap(); }
//   command.exit_code()
#pragma once

#include "base/error.h"

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace traceloom {

// Blocks signals that a child is to get, and those that tell of it, until it goes; so that they can
// be waited for. Threads that are started meanwhile have them blocked, too.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // As it was before: for children.
  const sigset_t& before() const { return before_; }
  // The next one, or nullopt after `timeout_ns`.
  std::optional<siginfo_t> wait(std::int64_t timeout_ns) const;

 private:
  sigset_t blocked_;
  sigset_t before_;
};

class StartError : public Error {
 public:
  StartError(const std::string& program, int error_number);
  // What a shell exits with: 127 for a program that is not there, 126 for one that is none.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

class Command {
 public:
  // Starts it, found on PATH as a shell does, which runs a text without "#!" itself. Throws
  // StartError that names the program: "pyhton: No such file or directory".
  Command(const std::vector<std::string>& words, const BlockedSignals& signals);

  pid_t pid() const { return pid_; }
  // Passes a signal on, unless the terminal has sent it to the child as well.
  void forward(const siginfo_t& signal) const;
  // Collects what has ended: the child, and processes it has left behind.
  void reap();
  bool has_ended() const { return status_.has_value(); }

  // After the end. As a shell tells it: 128 and the signal's number for one that a signal ended.
  int exit_code() const;
  int signal() const;  // 0: none
  std::int64_t cpu_ns() const;
  std::uint64_t peak_bytes() const;  // of the largest of its processes

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
  rusage usage_{};
};

}  // namespace traceloom
