#include "trace_record/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace traceloom {
namespace {

constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

std::int64_t ns_of(const timeval& time) {
  return std::int64_t{1'000'000'000} * time.tv_sec + std::int64_t{1000} * time.tv_usec;
}

// The attributes for posix_spawnp(), which the destructor frees.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(const sigset_t& mask) {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    // run_tool() ignores these signals, and a child would inherit that.
    sigset_t to_default;
    sigemptyset(&to_default);
    sigaddset(&to_default, SIGPIPE);
    sigaddset(&to_default, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &to_default);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Returns an errno.
int spawn(const std::vector<std::string>& words, const BlockedSignals& signals, pid_t& pid) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnAttributes attributes(signals.before());
  return posix_spawnp(&pid, arguments[0], nullptr, attributes.get(), arguments.data(), environ);
}

// Returns the path at which posix_spawnp() has found the program.
std::string path_of_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  if (path == nullptr || name.find('/') != std::string::npos) return name;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string program = (folder.empty() ? "." : folder) + "/" + name;
    if (access(program.c_str(), X_OK) == 0 && !std::filesystem::is_directory(program))
      return program;
  }
  return name;
}

// Decides like a shell: a file is a script if its first line has no zero byte.
bool is_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  return !file.bad() && line.find('\0') == std::string::npos;
}

// A script without "#!" is run by the shell, as execvp() does it.
std::vector<std::string> as_script(const std::string& path, const std::vector<std::string>& words) {
  std::vector<std::string> all{"/bin/sh", path};
  all.insert(all.end(), words.begin() + 1, words.end());
  return all;
}

}  // namespace

BlockedSignals::BlockedSignals() {
  sigemptyset(&blocked_);
  for (const int signal : kPassedOn) sigaddset(&blocked_, signal);
  sigaddset(&blocked_, SIGCHLD);
  // Some parents leave SIGCHLD ignored. Then the exit status of a child would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<siginfo_t> BlockedSignals::wait(std::int64_t timeout_ns) const {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec timeout{.tv_sec = timeout_ns / kSecond, .tv_nsec = timeout_ns % kSecond};
  siginfo_t info{};
  if (sigtimedwait(&blocked_, &info, &timeout) < 0) return std::nullopt;
  return info;
}

StartError::StartError(const std::string& program, int error_number)
    : Error(program, std::strerror(error_number)), exit_code_(error_number == ENOENT ? 127 : 126) {}

Command::Command(const std::vector<std::string>& words, const BlockedSignals& signals) {
  int error = spawn(words, signals, pid_);
  if (error == ENOEXEC) {
    const std::string script = path_of_program(words[0]);
    if (is_text(script)) error = spawn(as_script(script, words), signals, pid_);
  }
  if (error != 0) throw StartError(words[0], error);
}

void Command::forward(const siginfo_t& signal) const {
  if (signal.si_signo == SIGCHLD || signal.si_code == SI_KERNEL || has_ended()) return;
  kill(pid_, signal.si_signo);
}

void Command::reap() {
  int status = 0;
  rusage usage{};
  while (true) {
    const pid_t ended = wait4(-1, &status, WNOHANG, &usage);
    if (ended <= 0) return;
    if (ended != pid_) continue;
    status_ = status;
    usage_ = usage;
  }
}

int Command::exit_code() const {
  constexpr int kBySignal = 128;
  return signal() != 0 ? kBySignal + signal() : WEXITSTATUS(*status_);
}

int Command::signal() const {
  return WIFSIGNALED(*status_) ? WTERMSIG(*status_) : 0;
}

std::int64_t Command::cpu_ns() const {
  return ns_of(usage_.ru_utime) + ns_of(usage_.ru_stime);
}

std::uint64_t Command::peak_bytes() const {
  constexpr std::uint64_t kKib = 1024;
  return static_cast<std::uint64_t>(usage_.ru_maxrss) * kKib;
}

namespace {

// A build has thousands of processes, and each would be a row of the trace.
constexpr std::size_t kMostShown = 256;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

record::HostSamplerOptions host_only() {
  record::HostSamplerOptions options;
  options.process = false;  // trace-record itself does not matter
  return options;
}

void show_value(const std::string& name, std::string_view category, std::string_view key,
                double value) {
  record::record_counter({name, category, {{key, value}}});
}

}  // namespace

CommandSamples::CommandSamples(std::int64_t interval_ns)
    : interval_ns_(interval_ns), start_ns_(now_ns()), host_(host_only()), tree_(getpid()) {}

std::int64_t CommandSamples::ns_to_next() const {
  return interval_ns_ - (now_ns() - start_ns_) % interval_ns_;
}

void CommandSamples::take() {
  const std::int64_t now = now_ns();
  host_.read(now, record::record_counter);
  take_processes(now);
  is_first_ = false;
}

void CommandSamples::take_processes(std::int64_t now_ns) {
  double cpu_percent = 0;
  double rss_mb = 0;
  for (auto& [name, is_there] : shown_) is_there = false;
  const std::vector<record::ProcessTree::Process>& processes = tree_.read(now_ns);
  for (const record::ProcessTree::Process& process : processes) {
    cpu_percent += process.cpu_percent.value_or(0);
    rss_mb += process.rss_mb;
    if (!process.is_new) show(process);
  }
  if (!is_first_) show_value("command/cpu", "cpu", "cpu_percent", cpu_percent);
  show_value("command/rss", "memory", "rss_mb", rss_mb);
  show_value("command/processes", "cpu", "count", static_cast<double>(processes.size()));
  peak_mb_ = std::max(peak_mb_, rss_mb);
  // The counters of processes that have ended get a last value of 0.
  std::erase_if(shown_, [&](const auto& entry) {
    if (entry.second) return false;
    show_value(entry.first + "/cpu", "cpu", "cpu_percent", 0);
    show_value(entry.first + "/rss", "memory", "rss_mb", 0);
    return true;
  });
}

void CommandSamples::show(const record::ProcessTree::Process& process) {
  std::string name = fmt::format("process/{} {}", process.pid, process.name);
  const auto known = shown_.find(name);
  if (known == shown_.end() && shown_.size() >= kMostShown) return;
  if (process.cpu_percent) show_value(name + "/cpu", "cpu", "cpu_percent", *process.cpu_percent);
  show_value(name + "/rss", "memory", "rss_mb", process.rss_mb);
  shown_[std::move(name)] = true;
}

}  // namespace traceloom
