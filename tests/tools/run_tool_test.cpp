#include "common/run_tool.h"

#include "base/problems.h"
#include "output/file_sink.h"
#include "support/temporary_folder.h"
#include "tools/child.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <unistd.h>

using namespace traceloom;

namespace {

Ended run(const std::function<ExitCode()>& work) {
  return run_in_child([&] { return run_tool({.name = "trace-merge"}, work); });
}

template <typename Exception>
Ended run_throwing(const Exception& exception) {
  return run([&]() -> ExitCode { throw exception; });
}

void say_removed() noexcept {
  constexpr std::string_view kText = "removed\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
}

Ended run_interrupted(int signal) {
  return run_in_child([signal] {
    return run_tool({.name = "trace-merge", .on_interrupt = say_removed}, [signal] {
      raise(signal);
      return ExitCode::done;
    });
  });
}

// Gives stdout to `descriptor` and prints to it.
ExitCode print_into(int descriptor) {
  dup2(descriptor, STDOUT_FILENO);
  std::fputs("table\n", stdout);
  return ExitCode::done;
}

int closed_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  close(ends[0]);
  return ends[1];
}

}  // namespace

TEST_CASE("private folder: the next process removes that of a killed one, and no other") {
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  static_cast<void>(folder.write("traceloom-XXXXXX/mine", ""));
  const Ended killed = run_in_child([] {
    PrivateFolder dead;
    std::ofstream(dead.path("merged.json")) << "[]";
    return raise(SIGKILL);
  });
  CHECK(killed.signal == SIGKILL);
  CHECK(folder.entry_count() == 2);
  {
    PrivateFolder one;
    CHECK(folder.entry_count() == 2);
    PrivateFolder other;
    CHECK(folder.entry_count() == 3);
    const std::string path = other.path("merged.json");
    CHECK(path.starts_with(folder.path("traceloom-private-")));
    const auto mode = std::filesystem::status(path.substr(0, path.rfind('/'))).permissions();
    CHECK(mode == std::filesystem::perms::owner_all);
  }
  CHECK(folder.entry_count() == 1);
  unsetenv("TMPDIR");
}

TEST_CASE("run_tool: the exit code is what the work returns") {
  CHECK(run([] { return ExitCode::done; }).exit_code == 0);
  CHECK(run([] { return ExitCode::no; }).exit_code == 1);
  CHECK(run([] { return ExitCode::trouble; }).exit_code == 2);
  CHECK(run([] { return ExitCode::no; }).both == "");
}

TEST_CASE("run_tool: an Error names tool, file, byte and problem, and is trouble") {
  const Ended ended = run_throwing(Error("rank3.json.gz", 8812, "string is not closed"));
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "trace-merge: rank3.json.gz: byte 8812: string is not closed\n");
  CHECK(ended.out == "");
}

TEST_CASE("run_tool: a UsageError stands alone") {
  const Ended ended = run_throwing(UsageError("unknown option --thredas"));
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "trace-merge: unknown option --thredas\n");
}

TEST_CASE("run_tool: other exceptions are trouble in words") {
  CHECK(run_throwing(std::bad_alloc()).err == "trace-merge: out of memory\n");
  CHECK(run_throwing(std::runtime_error("odd")).err == "trace-merge: odd\n");
  const std::filesystem::filesystem_error no_folder(
      "cannot iterate", "traces", std::make_error_code(std::errc::no_such_file_or_directory));
  const Ended ended = run_throwing(no_folder);
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "trace-merge: traces: No such file or directory\n");
}

TEST_CASE("run_tool: what was printed comes before what is said") {
  const Ended ended = run([]() -> ExitCode {
    std::fputs("first row\n", stdout);
    throw Error("a.json", "is no trace");
  });
  CHECK(ended.both == "first row\ntrace-merge: a.json: is no trace\n");
  CHECK(ended.out == "first row\n");
}

TEST_CASE("run_tool: a closed pipe is no error, however it is noticed") {
  const Ended thrown = run_throwing(ClosedPipe());
  CHECK(thrown.exit_code == 0);
  CHECK(thrown.both == "");
  const Ended flushed = run([] { return print_into(closed_pipe()); });
  CHECK(flushed.exit_code == 0);
  CHECK(flushed.err == "");
  const Ended answered = run([] {
    print_into(closed_pipe());
    return ExitCode::no;
  });
  CHECK(answered.exit_code == 1);
  CHECK(answered.err == "");
  const Ended printed = run([] {
    dup2(closed_pipe(), STDOUT_FILENO);
    setvbuf(stdout, nullptr, _IONBF, 0);
    fmt::print("table\n");
    return ExitCode::no;
  });
  CHECK(printed.exit_code == 0);
  CHECK(printed.err == "");
}

TEST_CASE("run_tool: what is opened never gets the number of a closed standard stream") {
  const Ended ended = run_in_child([] {
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    return run_tool({.name = "trace-merge"}, [] {
      const int opened = open("/dev/null", O_RDONLY);
      char byte = 0;
      const bool reads = read(STDIN_FILENO, &byte, 1) >= 0;
      return opened > STDERR_FILENO && !reads ? ExitCode::no : ExitCode::done;
    });
  });
  CHECK(ended.exit_code == 1);
  const Ended silent = run_in_child([] {
    close(STDOUT_FILENO);
    return run_tool({.name = "trace-merge"}, [] {
      std::fputs("table\n", stdout);
      return ExitCode::done;
    });
  });
  CHECK(silent.exit_code == 2);
}

TEST_CASE("run_tool: a stdout that cannot be written is trouble") {
  const Ended ended = run([] { return print_into(open("/dev/full", O_WRONLY)); });
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "trace-merge: stdout: No space left on device\n");
}

TEST_CASE("run_tool: a signal calls the hook and then ends the process") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const Ended ended = run_interrupted(signal);
    CHECK(ended.signal == signal);
    CHECK(ended.exit_code == -1);
    CHECK(ended.err == "removed\n");
  }
}

TEST_CASE("run_tool: a signal without a hook ends the process too") {
  CHECK(run([] {
          raise(SIGTERM);
          return ExitCode::done;
        }).signal == SIGTERM);
}

TEST_CASE("run_tool: a signal that was ignored at the start stays ignored") {
  const Ended ended = run_in_child([] {
    std::signal(SIGINT, SIG_IGN);
    return run_tool({.name = "trace-merge", .on_interrupt = say_removed}, [] {
      raise(SIGINT);
      return ExitCode::done;
    });
  });
  CHECK(ended.exit_code == 0);
  CHECK(ended.err == "");
}
