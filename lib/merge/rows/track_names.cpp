#include "merge/rows/track_names.h"

#include "base/ascii.h"
#include "event/device_rows.h"
#include "event/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace traceloom {
namespace {

constexpr const char* kRowSeparator = " · ";

bool is_number(std::string_view text) {
  return !text.empty() && text != "0" &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool starts_with_rank(const std::string& process, std::int64_t rank) {
  const std::string name = to_lower(process);
  const std::string title = fmt::format("rank {}", rank);
  return name.starts_with(title) && (name.size() == title.size() || name[title.size()] == ' ');
}

}  // namespace

bool is_gpu_label(const std::string& labels) {
  return labels.starts_with("GPU") && labels.find(',') == std::string::npos;
}

bool is_backward_name(const std::string& thread) {
  return thread.find("pt_autograd_") != std::string::npos;
}

std::string rank_title(std::int64_t rank, const std::string& process, const std::string& pid) {
  if (starts_with_rank(process, rank)) return process;
  std::string title = fmt::format("rank {}", rank);
  if (process.empty()) return title;
  return is_number(pid) && pid != std::to_string(rank)
             ? fmt::format("{} · {} (pid {})", title, process, pid)
             : fmt::format("{} · {}", title, process);
}

std::string process_title(const std::string& pid, const ProcessFacts* facts) {
  if (facts != nullptr && facts->beside_main) return facts->beside_main->title;
  // Statistics know by this name what the rows of the process are.
  if (facts != nullptr && is_named_device(facts->name))
    return fmt::format("{} {}", facts->name, unquoted(pid));
  if (facts != nullptr && !facts->labels.empty() && facts->labels != "CPU") return facts->labels;
  const std::string_view plain = unquoted(pid);
  if (plain != pid) return std::string(plain);
  if (facts != nullptr && !facts->name.empty()) return fmt::format("{} {}", facts->name, pid);
  return pid.empty() ? "no pid" : "pid " + pid;
}

std::string process_title_of_rank(std::int64_t rank, const std::string& pid,
                                  const ProcessFacts* facts) {
  if (facts != nullptr && facts->beside_main) return facts->name;
  const bool has_name = facts != nullptr && !facts->name.empty() &&
                        (facts->labels.empty() || facts->labels == "CPU") && unquoted(pid) == pid;
  if (has_name) return rank_title(rank, facts->name, pid);
  return group_title(rank, process_title(pid, facts));
}

std::string group_title(std::int64_t rank, const std::string& process) {
  return fmt::format("rank {} · {}", rank, process.empty() ? "unnamed" : process);
}

std::string thread_title(const std::string& tid, std::string name, bool is_gpu) {
  while (!name.empty() && name.back() == ' ') name.pop_back();
  if (!name.empty()) return name;
  if (tid == "\"\"") return "unnamed";
  if (tid.empty()) return "no tid";
  if (tid.front() == '"') return std::string(unquoted(tid));
  return (is_gpu ? "stream " : "thread ") + tid;
}

std::string row_title(const std::string& process, const std::string& thread) {
  if (process.empty() || process == thread) return thread;
  return thread.empty() ? process : process + kRowSeparator + thread;
}

std::string thread_of_row(const std::string& process, const std::string& row) {
  const std::string before = process + kRowSeparator;
  return !process.empty() && row.starts_with(before) ? row.substr(before.size()) : row;
}

}  // namespace traceloom
