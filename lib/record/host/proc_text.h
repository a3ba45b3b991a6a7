// parse_cpu_times() and others: read counters of the host and of processes from the text of files
// in /proc.
//
//   std::optional<CpuTimes> cpu = parse_cpu_times(text_of("/proc/stat"));
//
// Each function takes the text as the kernel writes it, cut or not; what is not in it is nullopt or
// left out. Counters count since boot, or since the process started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace traceloom::record {

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

}  // namespace traceloom::record

#pragma GCC visibility pop
