// ProcessTree: what the processes that descend from one of them use of CPU and memory.
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
    // Since the last read, 100 is one CPU; of one that has started since then what it has used.
    // nullopt at the first read of all.
    std::optional<double> cpu_percent;
    double rss_mb = 0;   // an MB is 1e6 bytes
    bool is_new = true;  // was not there at the last read
  };

  // The root itself is not among them. `proc` is another folder in tests.
  explicit ProcessTree(std::int64_t root, std::string proc = "/proc");

  // In the order of pids, until the next call. `now_ns` on a clock that never steps back. Costs
  // some 10 us for each process of the machine. A process that ends between two reads takes along
  // what it did since the first of them.
  const std::vector<Process>& read(std::int64_t now_ns);

 private:
  using Identity = std::pair<std::int64_t, std::uint64_t>;  // pids are used again, start times not

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
