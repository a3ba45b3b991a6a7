// The files of /proc: their text, the counters in it, and what the descendants of a process use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom::record {

// A file of /proc that stays open and is read anew each time.
class ProcFile {
 public:
  // A file that cannot be opened reads as empty.
  explicit ProcFile(const std::string& path);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }
  // Returns the whole text as it is now, valid until the next call; empty if it cannot be read (any
  // more).
  std::string_view read();

 private:
  std::string path_;
  int descriptor_;
  std::string text_;
};

// parse_cpu_times() and others: read counters of the host and of processes from the text of files
// in /proc.
//
//   std::optional<CpuTimes> cpu = parse_cpu_times(text_of("/proc/stat"));
//
// Each function takes the text as the kernel writes it, cut or not; what is not in it is nullopt or
// left out. Counters count since boot, or since the process started.

// The times of all CPUs, in ticks of sysconf(_SC_CLK_TCK). The time of guests is part of the host's
// user time.
struct CpuTimes {
  std::uint64_t busy = 0;  // all except idle and waiting for a disk
  std::uint64_t total = 0;
};
std::optional<CpuTimes> parse_cpu_times(std::string_view stat);

// The numbers of /proc/meminfo, in bytes.
struct HostMemory {
  std::uint64_t total = 0;
  // Without swapping; free and cached memory if the kernel does not say.
  std::uint64_t available = 0;
  std::uint64_t swap_total = 0;
  std::uint64_t swap_free = 0;
};
std::optional<HostMemory> parse_meminfo(std::string_view meminfo);

// A line of /proc/diskstats.
struct DiskCounters {
  std::string device;
  std::uint64_t reads = 0;  // completed
  std::uint64_t read_bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t busy_ms = 0;  // time with a request under way
};
std::vector<DiskCounters> parse_diskstats(std::string_view diskstats);

// A line of /proc/net/dev.
struct NicCounters {
  std::string nic;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
};
std::vector<NicCounters> parse_net_dev(std::string_view net_dev);

// The line of /proc/PID/stat. A process is the same as long as pid and start time are.
struct ProcessStat {
  std::int64_t pid = 0;
  std::string name;  // name of its main thread, at most 15 bytes; may hold blanks and brackets
  char state = '?';
  std::int64_t parent = 0;
  std::uint64_t cpu_ticks = 0;  // user and system time of all its threads
  std::uint64_t start_ticks = 0;
  std::uint64_t vms_bytes = 0;
  std::uint64_t rss_pages = 0;
};
std::optional<ProcessStat> parse_process_stat(std::string_view stat);

// The numbers of /proc/PID/statm, in pages.
struct ProcessMemory {
  std::uint64_t vms_pages = 0;
  std::uint64_t rss_pages = 0;
};
std::optional<ProcessMemory> parse_statm(std::string_view statm);

// ProcessTree: what the descendants of a process use of CPU and memory.
//
//   ProcessTree tree(getpid());
//   for (const ProcessTree::Process& process : tree.read(now_ns)) use(process.cpu_percent);

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
