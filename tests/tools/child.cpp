#include "tools/child.h"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace traceloom {
namespace {

// The output streams of the child that are kept; the other one is discarded.
enum class Keep { out, err, both };

struct ChildRun {
  int status = 0;
  std::string text;
};

[[noreturn]] void become_child(int pipe_end, Keep keep, const std::function<int()>& function) {
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  dup2(keep == Keep::err ? fileno(nowhere) : pipe_end, STDOUT_FILENO);
  dup2(keep == Keep::out ? fileno(nowhere) : pipe_end, STDERR_FILENO);
  const int code = function();
  std::fflush(stdout);
  _exit(code);
}

ChildRun run_keeping(Keep keep, const std::function<int()>& function) {
  std::fflush(stdout);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) become_child(ends[1], keep, function);
  close(ends[1]);
  ChildRun result;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;)
    result.text.append(buffer.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(child, &result.status, 0);
  return result;
}

}  // namespace

Ended run_in_child(const std::function<int()>& function) {
  const ChildRun both = run_keeping(Keep::both, function);
  return {.exit_code = WIFEXITED(both.status) ? WEXITSTATUS(both.status) : -1,
          .signal = WIFSIGNALED(both.status) ? WTERMSIG(both.status) : 0,
          .out = run_keeping(Keep::out, function).text,
          .err = run_keeping(Keep::err, function).text,
          .both = both.text};
}

}  // namespace traceloom
