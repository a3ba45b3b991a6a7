#include "record/host/proc_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace traceloom::record {
namespace {

constexpr std::uint64_t kSector = 512;  // the unit of /proc/diskstats, whatever the device's own is

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Takes the next word; empty at the end of the line.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

bool take_number(std::string_view& line, std::uint64_t& number) {
  const std::string_view word = take_word(line);
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && rest == word.data() + word.size();
}

// Takes as many numbers as there are, up to the size of `numbers`; the others stay 0.
std::size_t take_numbers(std::string_view& line, std::span<std::uint64_t> numbers) {
  std::size_t count = 0;
  while (count < numbers.size() && take_number(line, numbers[count])) ++count;
  return count;
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view stat) {
  std::string_view line = take_line(stat);
  if (take_word(line) != "cpu") return std::nullopt;
  // user nice system idle iowait irq softirq steal guest guest_nice; old kernels have fewer.
  std::array<std::uint64_t, 8> times{};
  if (take_numbers(line, times) < 4) return std::nullopt;
  CpuTimes cpu;
  for (const std::uint64_t time : times) cpu.total += time;
  cpu.busy = cpu.total - times[3] - times[4];
  return cpu;
}

std::optional<HostMemory> parse_meminfo(std::string_view meminfo) {
  HostMemory memory;
  std::uint64_t free = 0;
  std::uint64_t cached = 0;
  bool has_total = false;
  bool has_available = false;
  while (!meminfo.empty()) {
    std::string_view line = take_line(meminfo);
    const std::string_view name = take_word(line);
    std::uint64_t value = 0;
    if (!take_number(line, value) || take_word(line) != "kB") continue;
    value *= 1024;
    if (name == "MemTotal:") {
      memory.total = value;
      has_total = true;
    } else if (name == "MemAvailable:") {
      memory.available = value;
      has_available = true;
    } else if (name == "MemFree:") {
      free = value;
    } else if (name == "Buffers:" || name == "Cached:") {
      cached += value;
    } else if (name == "SwapTotal:") {
      memory.swap_total = value;
    } else if (name == "SwapFree:") {
      memory.swap_free = value;
      break;  // the last one that is needed
    }
  }
  if (!has_total) return std::nullopt;
  if (!has_available) memory.available = free + cached;
  return memory;
}

std::vector<DiskCounters> parse_diskstats(std::string_view diskstats) {
  std::vector<DiskCounters> disks;
  while (!diskstats.empty()) {
    std::string_view line = take_line(diskstats);
    std::array<std::uint64_t, 2> numbers{};  // major and minor
    if (take_numbers(line, numbers) < numbers.size()) continue;
    DiskCounters disk;
    disk.device = take_word(line);
    // reads merged sectors ms, writes merged sectors ms, in flight, busy ms
    std::array<std::uint64_t, 10> values{};
    if (disk.device.empty() || take_numbers(line, values) < values.size()) continue;
    disk.reads = values[0];
    disk.read_bytes = values[2] * kSector;
    disk.writes = values[4];
    disk.written_bytes = values[6] * kSector;
    disk.busy_ms = values[9];
    disks.push_back(std::move(disk));
  }
  return disks;
}

std::vector<NicCounters> parse_net_dev(std::string_view net_dev) {
  std::vector<NicCounters> nics;
  while (!net_dev.empty()) {
    std::string_view line = take_line(net_dev);
    // The counters may stand right after the colon; a name may hold a colon itself (an alias).
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;  // the two lines of the head
    std::string_view name = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    NicCounters nic;
    nic.nic = take_word(name);
    // received: bytes packets errs drop fifo frame compressed multicast; sent: bytes ...
    std::array<std::uint64_t, 9> values{};
    if (nic.nic.empty() || take_numbers(line, values) < values.size()) continue;
    nic.received_bytes = values[0];
    nic.sent_bytes = values[8];
    nics.push_back(std::move(nic));
  }
  return nics;
}

std::optional<ProcessStat> parse_process_stat(std::string_view stat) {
  // 17 (a (b) c) S 1 ...: the name ends at the last bracket.
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  ProcessStat process;
  std::uint64_t pid = 0;
  std::string_view front = stat.substr(0, open);
  if (!take_number(front, pid)) return std::nullopt;
  process.pid = static_cast<std::int64_t>(pid);
  process.name = stat.substr(open + 1, close - open - 1);
  std::string_view rest = stat.substr(close + 1);
  const std::string_view state = take_word(rest);
  if (state.size() != 1) return std::nullopt;
  process.state = state.front();
  // ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime
  // priority nice threads itrealvalue starttime vsize rss; some may be negative.
  std::array<std::int64_t, 21> values{};
  for (std::int64_t& value : values) {
    const std::string_view word = take_word(rest);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  }
  process.parent = values[0];
  process.cpu_ticks = static_cast<std::uint64_t>(values[10] + values[11]);
  process.start_ticks = static_cast<std::uint64_t>(values[18]);
  process.vms_bytes = static_cast<std::uint64_t>(values[19]);
  process.rss_pages = static_cast<std::uint64_t>(std::max<std::int64_t>(0, values[20]));
  return process;
}

std::optional<ProcessMemory> parse_statm(std::string_view statm) {
  ProcessMemory memory;
  if (!take_number(statm, memory.vms_pages) || !take_number(statm, memory.rss_pages))
    return std::nullopt;
  return memory;
}

}  // namespace traceloom::record
