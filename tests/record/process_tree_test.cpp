#include "record/host/proc.h"
#include "record/scratch.h"
#include "support/child_process.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <string>
#include <unistd.h>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;

// A /proc of our own.
struct Processes {
  void add(int pid, const std::string& name, int parent, std::int64_t ticks, int start = 1,
           std::int64_t pages = 0) const {
    scratch.write(fmt::format("{}/stat", pid),
                  fmt::format("{} ({}) S {} 0 0 0 0 0 0 0 0 0 {} 0 0 0 0 0 0 0 {} 4096 {} 0\n", pid,
                              name, parent, ticks, start, pages));
  }
  void end(int pid) const {
    scratch.remove(fmt::format("{}/stat", pid));
    scratch.remove(fmt::format("{}", pid));
  }
  std::string read(ProcessTree& tree, std::int64_t now_ns) const {
    std::string text;
    for (const ProcessTree::Process& process : tree.read(now_ns))
      text += fmt::format("{} {} {} {:g}{}\n", process.pid, process.name,
                          process.cpu_percent ? fmt::format("{:g}%", *process.cpu_percent) : "-",
                          process.rss_mb, process.is_new ? " new" : "");
    return text;
  }

  Scratch scratch;
};

}  // namespace

TEST_CASE("process_tree: all that descends from a process, and nothing else") {
  const Processes host;
  host.add(1, "init", 0, 0);
  host.add(10, "trace-record", 1, 0);
  host.add(11, "bash", 10, 0, 1, 1000);
  host.add(7, "python (a)", 11, 0);  // pids are used again: a child may have a lower one
  host.add(12, "other", 1, 0);
  host.scratch.write("self/stat", "no process");
  host.scratch.write("20/stat", "cut (");
  ProcessTree tree(10, host.scratch / "");
  CHECK(host.read(tree, kOneSecond) ==
        fmt::format("7 python (a) - 0 new\n11 bash - {:g} new\n",
                    1000 * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6));
}

TEST_CASE("process_tree: CPU time is that between two reads") {
  const Processes host;
  const std::int64_t second = sysconf(_SC_CLK_TCK);
  host.add(10, "trace-record", 1, 0);
  host.add(11, "a", 10, 5 * second);
  host.add(12, "b", 10, 0);
  ProcessTree tree(10, host.scratch / "");
  host.read(tree, kOneSecond);
  host.add(11, "a", 10, 8 * second);
  host.end(12);
  host.add(13, "c", 11, second);
  CHECK(host.read(tree, 3 * kOneSecond) == "11 a 150% 0\n13 c 50% 0 new\n");
  // The pid is the same, the process another one.
  host.add(13, "d", 11, second, 2);
  CHECK(host.read(tree, 4 * kOneSecond) == "11 a 0% 0\n13 d 100% 0 new\n");
  CHECK(host.read(tree, 4 * kOneSecond) == "11 a - 0\n13 d - 0\n");
}

TEST_CASE("process_tree: without a /proc there are no processes") {
  const Scratch scratch;
  ProcessTree tree(1, scratch / "none");
  CHECK(tree.read(kOneSecond).empty());
}

TEST_CASE("process_tree: reads the real /proc") {
  const pid_t child = start_child([] { pause(); });
  ProcessTree tree(getpid());
  const std::vector<ProcessTree::Process>& processes = tree.read(kOneSecond);
  REQUIRE(processes.size() == 1);
  CHECK(processes[0].pid == child);
  kill_child(child);
  CHECK(tree.read(2 * kOneSecond).empty());
}
