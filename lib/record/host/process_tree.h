// ProcessTree: what the descendants of a process use of CPU and memory.
//
//   ProcessTree tree(getpid());
//   for (const ProcessTree::Process& process : tree.read(now_ns)) use(process.cpu_percent);
#pragma once

#include "record/host/proc_text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::record {

// Not thread-safe.
class ProcessTree {
 public:
  struct Process {
    std::int64_t pid = 0;
    std::string name;
    // The CPU time since the last read, where 100 is one CPU; for a process that has started since
    // then, all that it has used. nullopt at the first read of all.
    std::optional<double> cpu_percent;
    double rss_mb = 0;   // an MB is 1e6 bytes
    bool is_new = true;  // it was not there at the last read
  };

  // The root itself is not in the result. `proc` is another folder in tests.
  explicit ProcessTree(std::int64_t root, std::string proc = "/proc");

  // Returns the processes in the order of their pids; the result is valid until the next call.
  // `now_ns` is a time on a clock that never steps back. The call costs some 10 us for each process
  // of the machine. If a process ends between two reads, what it did since the first of them is
  // lost.
  const std::vector<Process>& read(std::int64_t now_ns);

 private:
  // Pids are used again, start times are not.
  using Identity = std::pair<std::int64_t, std::uint64_t>;

  std::vector<ProcessStat> read_all() const;

  std::int64_t root_;
  std::string proc_;
  double ticks_per_second_;
  double page_bytes_;
  std::optional<std::int64_t> last_ns_;
  std::map<Identity, std::uint64_t> ticks_;  // at the last read
  std::vector<Process> processes_;
};

}  // namespace traceloom::record
