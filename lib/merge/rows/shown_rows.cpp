#include "merge/rows/shown_rows.h"

#include "base/ascii.h"
#include "event/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

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
  return fmt::format("rank {} · {}", rank, process.empty() ? "no process" : process);
}

std::string thread_title(const std::string& tid, std::string name, bool is_gpu) {
  while (!name.empty() && name.back() == ' ') name.pop_back();
  if (!name.empty()) return name;
  if (tid == "\"\"") return "no thread";
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

namespace {

using Rows = std::vector<const Process::Row*>;

// True if all rows come from one file that was merged before.
bool has_order(const Process& process) {
  std::set<std::int64_t> places;
  return std::ranges::all_of(process.threads, [&](const auto& thread) {
    const std::optional<std::int64_t>& place = thread.second.merged_sort_index;
    return place && places.insert(*place).second;
  });
}

enum class RowGroup { main, backward, own, gpu, other };

RowGroup group_of(const Process::Row& row, const ThreadKey* main) {
  const auto& [key, thread] = row;
  if (&key == main) return RowGroup::main;
  if (key.is_foreign) return thread.is_gpu ? RowGroup::gpu : RowGroup::other;
  return is_backward_name(thread.name) ? RowGroup::backward : RowGroup::own;
}

// Sorts the elements that have an index (by `index_of`) among the places that they have; only
// elements with the same `group_of` change places.
template <typename Value, typename GroupOf, typename IndexOf>
void sort_indexed(std::vector<Value>& values, const GroupOf& group_of, const IndexOf& index_of) {
  std::map<decltype(group_of(values[0])), std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (index_of(values[i])) places[group_of(values[i])].push_back(i);
  const std::vector<Value> unsorted = values;
  for (const auto& [group, of_group] : places) {
    std::vector<std::size_t> order = of_group;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *index_of(unsorted[i]); });
    for (std::size_t i = 0; i < order.size(); ++i) values[of_group[i]] = unsorted[order[i]];
  }
}

// Keeps rows together that come from one process other than the main one, and orders such groups by
// the indexes of their processes.
void sort_processes(Rows& rows, const ThreadKey* main) {
  std::vector<Rows> groups;
  const auto is_of_last = [&](const Process::Row* row) {
    if (groups.empty()) return false;
    const Process::Row* const last = groups.back().front();
    return row->first.is_foreign == last->first.is_foreign && row->first.pid == last->first.pid &&
           (!row->first.is_foreign || group_of(*row, main) == group_of(*last, main));
  };
  for (const Process::Row* row : rows)
    if (is_of_last(row))
      groups.back().push_back(row);
    else
      groups.push_back({row});
  const auto all = [](const Rows&) { return 0; };
  sort_indexed(groups, all, [](const Rows& group) {
    return group.front()->first.is_foreign ? group.front()->second.process_sort_index
                                           : std::nullopt;
  });
  rows.clear();
  for (const Rows& group : groups) rows.insert(rows.end(), group.begin(), group.end());
}

}  // namespace

std::vector<const Process::Row*> rows_in_order(const Process& process, const ThreadKey* main) {
  const bool keeps_order = has_order(process);
  Rows rows;
  for (const Process::Row& row : process.threads) rows.push_back(&row);
  std::ranges::stable_sort(rows, [&](const auto* a, const auto* b) {
    const auto place = [&](const Process::Row& row) {
      const std::int64_t merged = row.second.merged_sort_index.value_or(0);
      if (keeps_order) return std::tuple{RowGroup::own, NaturalId{}, merged};
      return std::tuple{group_of(row, main), row.first.pid, merged};
    };
    return place(*a) < place(*b);
  });
  sort_processes(rows, main);
  // The indexes of threads say nothing of the threads of another process.
  sort_indexed(
      rows,
      [](const Process::Row* row) {
        return std::pair{row->first.is_foreign, row->first.pid.text};
      },
      [](const Process::Row* row) { return row->second.sort_index; });
  return rows;
}

std::vector<Processes::value_type*> in_order(Processes& processes) {
  std::vector<Processes::value_type*> order;
  for (auto& process : processes) order.push_back(&process);
  const auto place = [](const Processes::value_type* process) {
    const auto& [key, one] = *process;
    return std::tuple{key.rank, !key.is_foreign ? 0 : one.is_gpu() ? 1 : 2};
  };
  std::ranges::stable_sort(order,
                           [&](const auto* a, const auto* b) { return place(a) < place(b); });
  sort_indexed(
      order, [](const Processes::value_type* process) { return process->first.rank; },
      [](const Processes::value_type* process) {
        return process->first.is_foreign ? process->second.sort_index : std::nullopt;
      });
  return order;
}

}  // namespace traceloom
