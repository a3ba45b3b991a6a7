#include "record/host/proc.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <set>
#include <unistd.h>

namespace traceloom::record {

ProcFile::ProcFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ProcFile::~ProcFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string_view ProcFile::read() {
  constexpr std::size_t kFirstSize = 4096;
  if (descriptor_ < 0) return {};
  if (text_.size() < kFirstSize) text_.resize(kFirstSize);
  std::size_t size = 0;
  while (true) {
    // Reading from the start makes the kernel write the text anew; what does not fit is read from
    // there on.
    const ssize_t count =
        pread(descriptor_, text_.data() + size, text_.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
    if (size == text_.size()) text_.resize(text_.size() * 2);
  }
  return std::string_view(text_).substr(0, size);
}

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

template <typename Number>
bool take_number(std::string_view& line, Number& number) {
  const std::string_view word = take_word(line);
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && rest == word.data() + word.size();
}

// Takes as many numbers as there are, up to the size of `numbers`; the others stay 0.
template <typename Number, std::size_t kSize>
std::size_t take_numbers(std::string_view& line, std::array<Number, kSize>& numbers) {
  std::size_t count = 0;
  while (count < kSize && take_number(line, numbers[count])) ++count;
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
  constexpr std::uint64_t kKib = 1024;
  HostMemory memory;
  std::uint64_t unused = 0;
  bool has_available = false;
  const std::pair<std::string_view, std::uint64_t*> wanted[] = {
      {"MemTotal:", &memory.total},
      {"MemAvailable:", &memory.available},
      {"MemFree:", &unused},
      {"Buffers:", &unused},
      {"Cached:", &unused},
      {"SwapTotal:", &memory.swap_total},
      {"SwapFree:", &memory.swap_free}};
  while (!meminfo.empty()) {
    std::string_view line = take_line(meminfo);
    const std::string_view name = take_word(line);
    std::uint64_t value = 0;
    if (!take_number(line, value) || take_word(line) != "kB") continue;
    for (const auto& [wanted_name, sum] : wanted) {
      if (name != wanted_name) continue;
      *sum += value * kKib;
      has_available |= sum == &memory.available;
    }
    if (name == "SwapFree:") break;  // the last one that is needed
  }
  if (memory.total == 0) return std::nullopt;
  if (!has_available) memory.available = unused;
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
  std::string_view front = stat.substr(0, open);
  if (!take_number(front, process.pid)) return std::nullopt;
  process.name = stat.substr(open + 1, close - open - 1);
  std::string_view rest = stat.substr(close + 1);
  const std::string_view state = take_word(rest);
  if (state.size() != 1) return std::nullopt;
  process.state = state.front();
  // ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime
  // priority nice threads itrealvalue starttime vsize rss; some may be negative.
  std::array<std::int64_t, 21> values{};
  if (take_numbers(rest, values) < values.size()) return std::nullopt;
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

namespace {

bool is_pid(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the processes of `all` that have `root` among their ancestors.
std::vector<ProcessStat> descendants(std::vector<ProcessStat> all, std::int64_t root) {
  std::multimap<std::int64_t, std::size_t> children;
  for (std::size_t i = 0; i < all.size(); ++i) children.emplace(all[i].parent, i);
  std::vector<ProcessStat> found;
  std::set<std::int64_t> seen{root};  // processes come and go while they are listed
  std::vector<std::int64_t> open{root};
  while (!open.empty()) {
    const auto [begin, end] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = begin; child != end; ++child) {
      ProcessStat& process = all[child->second];
      if (!seen.insert(process.pid).second) continue;
      open.push_back(process.pid);
      found.push_back(std::move(process));
    }
  }
  std::sort(found.begin(), found.end(),
            [](const ProcessStat& a, const ProcessStat& b) { return a.pid < b.pid; });
  return found;
}

}  // namespace

ProcessTree::ProcessTree(std::int64_t root, std::string proc)
    : root_(root),
      proc_(std::move(proc)),
      ticks_per_second_(static_cast<double>(sysconf(_SC_CLK_TCK))),
      page_bytes_(static_cast<double>(sysconf(_SC_PAGESIZE))) {}

std::vector<ProcessStat> ProcessTree::read_all() const {
  std::vector<ProcessStat> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(proc_.c_str()), closedir);
  if (!folder) return all;
  while (const dirent* const entry = readdir(folder.get())) {
    if (!is_pid(entry->d_name)) continue;
    ProcFile file(proc_ + "/" + entry->d_name + "/stat");
    if (std::optional<ProcessStat> process = parse_process_stat(file.read()))
      all.push_back(*std::move(process));
  }
  return all;
}

const std::vector<ProcessTree::Process>& ProcessTree::read(std::int64_t now_ns) {
  const double seconds =
      last_ns_ && now_ns > *last_ns_ ? static_cast<double>(now_ns - *last_ns_) / 1e9 : 0;
  std::map<Identity, std::uint64_t> ticks;
  processes_.clear();
  for (ProcessStat& stat : descendants(read_all(), root_)) {
    const Identity identity(stat.pid, stat.start_ticks);
    const auto before = ticks_.find(identity);
    const std::uint64_t ticks_before = before == ticks_.end() ? 0 : before->second;
    Process& process = processes_.emplace_back();
    process.pid = stat.pid;
    process.name = std::move(stat.name);
    process.is_new = before == ticks_.end();
    process.rss_mb = static_cast<double>(stat.rss_pages) * page_bytes_ / 1e6;
    if (seconds > 0 && stat.cpu_ticks >= ticks_before)
      process.cpu_percent =
          100 * static_cast<double>(stat.cpu_ticks - ticks_before) / (seconds * ticks_per_second_);
    ticks.emplace(identity, stat.cpu_ticks);
  }
  ticks_ = std::move(ticks);
  last_ns_ = now_ns;
  return processes_;
}

}  // namespace traceloom::record
