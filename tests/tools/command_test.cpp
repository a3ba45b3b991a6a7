#include "trace_record/command.h"

#include "support/temporary_folder.h"
#include "tools/child.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Follows the command until its end, like trace-record.
void follow(Command& command, const BlockedSignals& signals) {
  while (!command.has_ended()) {
    const std::optional<siginfo_t> signal = signals.wait(60 * kSecond);
    if (!signal) return;
    command.reap();
    if (!command.has_ended()) command.forward(*signal);
  }
}

int exit_code_of(const std::string& script) {
  const BlockedSignals signals;
  Command command({"sh", "-c", script}, signals);
  follow(command, signals);
  return command.has_ended() ? command.exit_code() : -1;
}

int refusal_of(const std::string& program) {
  const BlockedSignals signals;
  try {
    const Command command({program}, signals);
  } catch (const StartError& error) {
    CHECK(error.path() == program);
    return error.exit_code();
  }
  return -1;
}

}  // namespace

TEST_CASE("command: the exit code is that of a shell") {
  CHECK(exit_code_of("exit 0") == 0);
  CHECK(exit_code_of("exit 3") == 3);
  CHECK(exit_code_of("kill -KILL $$") == 128 + SIGKILL);
}

TEST_CASE("command: a program that is not there, or none") {
  CHECK(refusal_of("no-such-program") == 127);
  CHECK(refusal_of("/") == 126);
}

TEST_CASE("command: a text without #! is a script of the shell, and other bytes are no program") {
  const TemporaryFolder folder;
  const auto program = [&](const std::string& name, std::string_view text) {
    const std::string path = folder.write(name, text);
    chmod(path.c_str(), 0755);
    return path;
  };
  const auto exit_code = [](const std::vector<std::string>& words) {
    const BlockedSignals signals;
    Command command(words, signals);
    follow(command, signals);
    return command.has_ended() ? command.exit_code() : -1;
  };
  const std::string script = program("own-script", "exit $(($1 + $#))\n");
  CHECK(exit_code({script, "3", "a b"}) == 5);
  CHECK(exit_code({program("empty", "")}) == 0);
  const Ended on_path = run_in_child([&] {
    setenv("PATH", (folder.path("none") + ":" + folder.path() + ":/bin").c_str(), 1);
    return exit_code({"own-script", "7"});
  });
  CHECK(on_path.exit_code == 8);
  CHECK(refusal_of(program("bytes", std::string_view("\x01\0\x02", 3))) == 126);
}

TEST_CASE("command: what it used of CPU and memory") {
  const BlockedSignals signals;
  Command command({"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}, signals);
  follow(command, signals);
  REQUIRE(command.has_ended());
  CHECK(command.cpu_ns() > 0);
  CHECK(command.cpu_ns() < 60 * kSecond);
  CHECK(command.peak_bytes() > 100'000);
}

TEST_CASE("command: signals from elsewhere are passed on, those of the terminal are not") {
  const Ended ended = run_in_child([] {
    const BlockedSignals signals;
    Command command({"sh", "-c",
                     "trap 'exit 7' TERM; trap 'exit 8' INT; kill -USR2 $PPID; "
                     "while :; do sleep 0.01; done"},
                    signals);
    siginfo_t of_terminal{};
    of_terminal.si_signo = SIGINT;
    of_terminal.si_code = SI_KERNEL;
    while (!command.has_ended()) {
      const std::optional<siginfo_t> signal = signals.wait(60 * kSecond);
      if (!signal) return 99;
      command.reap();
      // The command has set its traps by now. It does not receive the first of the two signals.
      if (signal->si_signo != SIGUSR2) continue;
      command.forward(of_terminal);
      siginfo_t of_user{};
      of_user.si_signo = SIGTERM;
      of_user.si_code = SI_USER;
      command.forward(of_user);
    }
    return command.exit_code();
  });
  CHECK(ended.exit_code == 7);
}

TEST_CASE("command: also where the parent left the ends of children ignored") {
  const Ended ended = run_in_child([] {
    std::signal(SIGCHLD, SIG_IGN);
    return exit_code_of("exit 5");
  });
  CHECK(ended.exit_code == 5);
}

TEST_CASE("command: the program sees the signals as they were, and a closed pipe ends it") {
  CHECK(exit_code_of("kill -TERM $$") == 128 + SIGTERM);
  const Ended ended = run_in_child([] {
    std::signal(SIGPIPE, SIG_IGN);  // run_tool() does the same
    return exit_code_of("kill -PIPE $$");
  });
  CHECK(ended.exit_code == 128 + SIGPIPE);
}
