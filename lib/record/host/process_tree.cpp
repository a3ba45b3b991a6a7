#include "record/host/process_tree.h"

#include "record/host/proc_file.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <set>
#include <string_view>
#include <unistd.h>

namespace traceloom::record {
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
