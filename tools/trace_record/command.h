// A command that runs as a child process: what it used, and samples of it as counters in the
// trace.
#pragma once

#include "base/problems.h"
#include "record/host/host_sampler.h"
#include "record/host/proc.h"

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace traceloom {

// Command runs a program as a child process and measures what it used.
//
//   Command command({"python", "train.py"});
//   while (!command.has_ended()) { ... command.forward(signal, info); command.reap(); }
//   command.exit_code()

// Blocks the signals to pass on to a child and SIGCHLD, so that wait() can receive them. The
// destructor unblocks them. Threads that are started in between have them blocked, too.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // Returns the mask as it was before, which a child gets.
  const sigset_t& before() const { return before_; }
  // Returns the next signal, or nullopt after `timeout_ns`.
  std::optional<siginfo_t> wait(std::int64_t timeout_ns) const;

 private:
  sigset_t blocked_;
  sigset_t before_;
};

class StartError : public Error {
 public:
  StartError(const std::string& program, int error_number);
  // Returns the exit code of a shell: 127 if there is no such file, 126 if it cannot be run.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

class Command {
 public:
  // Looks for the program on PATH and starts it. Like a shell, it takes a text without "#!" for a
  // script. Throws a StartError that names the program: "pyhton: No such file or directory".
  Command(const std::vector<std::string>& words, const BlockedSignals& signals);

  pid_t pid() const { return pid_; }
  // Passes a signal on, unless the terminal has sent it to the child as well.
  void forward(const siginfo_t& signal) const;
  // Collects processes that have ended: the child, and those that it has left behind.
  void reap();
  bool has_ended() const { return status_.has_value(); }

  // These are valid after the end. The exit code is that of a shell: 128 + the signal's number if a
  // signal ended the program.
  int exit_code() const;
  int signal() const;  // 0: none
  std::int64_t cpu_ns() const;
  std::uint64_t peak_bytes() const;  // the peak of its largest process

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
  rusage usage_{};
};

// CommandSamples records the host and the processes of a command as counters in the trace.
//
// Besides the counters of the host (host_recorder.h) there are:
//
//   command/cpu         cpu_percent   all processes together; 100 is one CPU
//   command/rss         rss_mb
//   command/processes   count
//   process/PID NAME/cpu, process/PID NAME/rss: for processes that live for at least two samples

class CommandSamples {
 public:
  // Samples the host and all descendants of this process.
  explicit CommandSamples(std::int64_t interval_ns);

  void take();
  // Returns the time to the next multiple of the interval since the start. So samples do not drift,
  // and late ones are skipped.
  std::int64_t ns_to_next() const;

  // Returns the files of /proc that cannot be read.
  std::vector<std::string> missing() const { return host_.missing(); }
  // Returns the most memory that all processes had together in a sample.
  std::uint64_t peak_bytes() const { return static_cast<std::uint64_t>(peak_mb_ * 1e6); }

 private:
  void take_processes(std::int64_t now_ns);
  void show(const record::ProcessTree::Process& process);

  std::int64_t interval_ns_;
  std::int64_t start_ns_;
  bool is_first_ = true;
  record::HostReader host_;
  record::ProcessTree tree_;
  // The names of the counters of shown processes, and whether the last sample had them.
  std::map<std::string, bool> shown_;
  double peak_mb_ = 0;
};

}  // namespace traceloom
