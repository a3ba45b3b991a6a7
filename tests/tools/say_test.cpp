#include "common/terminal.h"
#include "tools/child.h"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace traceloom;

namespace {

int say_something() {
  say("trace-merge", Tone::note, "first");
  say("trace-merge", Tone::warning, "second");
  return 7;
}

}  // namespace

TEST_CASE("say: one line, with the tool in front") {
  CHECK(said_line("trace-merge", Tone::note, "", "done", Paint()) == "trace-merge: done\n");
  CHECK(said_line("trace-merge", Tone::warning, "a.json", "is odd", Paint()) ==
        "trace-merge: warning: a.json: is odd\n");
  CHECK(said_line("trace-merge", Tone::error, "", "no", Paint()) == "trace-merge: no\n");
}

TEST_CASE("say: colours are the tool's own") {
  CHECK(said_line("trace-merge", Tone::warning, "a\x1b[5m", "b\x1b[5m", Paint(true)) ==
        "trace-merge: \x1b[1;33mwarning:\x1b[0m \x1b[1ma\\x1b[5m\x1b[0m: b\\x1b[5m\n");
  CHECK(said_line("trace-merge", Tone::error, "", "b\x1b[5m", Paint(true)) ==
        "\x1b[1;31mtrace-merge:\x1b[0m b\\x1b[5m\n");
}

TEST_CASE("say: whatever a path or a text holds stays on its line") {
  CHECK(said_line("trace-merge", Tone::note, "a\n.json", "\"x\r\ntrace-merge: done\"", Paint()) ==
        "trace-merge: a\\n.json: \"x\\r\\ntrace-merge: done\"\n");
}

TEST_CASE("say: goes to stderr, behind what was printed") {
  const Ended ended = run_in_child([] {
    std::fputs("row\n", stdout);
    return say_something();
  });
  CHECK(ended.both == "row\ntrace-merge: first\ntrace-merge: warning: second\n");
  CHECK(ended.err == "trace-merge: first\ntrace-merge: warning: second\n");
}

TEST_CASE("say: a stderr that cannot be written changes nothing") {
  CHECK(run_in_child([] {
          dup2(open("/dev/full", O_WRONLY), STDERR_FILENO);
          return say_something();
        }).exit_code == 7);
  CHECK(run_in_child([] {
          close(STDERR_FILENO);
          return say_something();
        }).exit_code == 7);
  CHECK(run_in_child([] {
          std::signal(SIGPIPE, SIG_IGN);
          std::array<int, 2> ends{};
          if (pipe(ends.data()) != 0) return 1;
          close(ends[0]);
          dup2(ends[1], STDERR_FILENO);
          return say_something();
        }).exit_code == 7);
}
