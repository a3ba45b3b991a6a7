#include "merge/rows/track_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::uint32_t kFirstSyntheticTid = 10'000'000;
constexpr std::uint32_t kFirstSampledTid = 20'000'000;
// The least number of pids that each rank gets: processes of rank 3 are 301, 302, ... if that
// leaves enough room for all ranks.
constexpr std::int64_t kLeastPidsOfRank = 100;
constexpr std::int64_t kMaxPid = 4'294'967'295;  // Perfetto's pids have 32 bits

// Returns the whole number if it can be a tid, else nullopt.
std::optional<std::uint32_t> plain_tid(std::string_view canonical) {
  const auto tid = whole_number<std::uint32_t>(canonical);
  return tid && *tid > 0 ? tid : std::nullopt;
}

// Drops processes without events, but keeps the main process of a rank that has no other.
void drop_empty(Processes& processes) {
  std::erase_if(processes, [](const auto& process) {
    return process.first.is_foreign && process.second.is_empty();
  });
  for (auto it = processes.begin(); it != processes.end();) {
    const auto next = std::next(it);
    const bool has_others = next != processes.end() && next->first.rank == it->first.rank;
    if (it->second.is_empty() && has_others) processes.erase(it);
    it = next;
  }
}

// Gives each process a pid of its own. No pid is 0: Perfetto takes 0 for no tid if a thread has it,
// too.
void number_split(const std::vector<Processes::value_type*>& order) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const Processes::value_type* process : order) ++counts[process->first.rank];
  std::int64_t room = kLeastPidsOfRank;
  for (const auto& [rank, count] : counts)
    while (room <= count) room *= 10;
  const bool fits = counts.empty() || counts.rbegin()->first < kMaxPid / room;
  std::map<std::int64_t, std::int64_t> taken;
  std::int64_t next = 1;
  for (Processes::value_type* process : order) {
    const std::int64_t rank = process->first.rank;
    process->second.pid = fits ? rank * room + ++taken[rank] : next++;
  }
}

// Finds the main thread of a process: the thread that wins the first of these comparisons on which
// threads differ.
//
// 1. It belongs to the process itself, not to one that is folded into it.
// 2. An earlier merge put it first.
// 3. Its tid is the process's pid.
// 4. It asks to come first (Composer's training loop).
// 5. It is no GPU row (Composer's files have them in the main process).
// 6. It has most events.
//
// A process other than the main one has a main thread only if its tid is the pid: the streams of a
// GPU are equals.
const ThreadKey* find_main_thread(const ProcessKey& process_key, const Process& process) {
  const ThreadKey* best = nullptr;
  std::tuple<bool, bool, bool, bool, bool, std::uint64_t> best_score;
  for (const auto& [key, thread] : process.threads) {
    if (process_key.is_foreign && (!thread.is_os_main || thread.is_gpu)) continue;
    const std::tuple score{!key.is_foreign,   thread.merged_sort_index == std::int64_t{0},
                           thread.is_os_main, thread.sort_index.value_or(1) <= 0,
                           !thread.is_gpu,    thread.events};
    if (best == nullptr || score > best_score) {
      best = &key;
      best_score = score;
    }
  }
  return best;
}

void assign_tids(const ProcessKey& process_key, Process& process, const ThreadKey* main) {
  std::set<std::uint32_t> used;
  for (auto& [key, thread] : process.threads) {
    const std::optional<std::uint32_t> tid =
        key.is_foreign == process_key.is_foreign ? plain_tid(key.tid.text) : std::nullopt;
    // Perfetto takes the thread whose tid is the pid for the main thread.
    if (!tid || (*tid == process.pid && &key != main)) continue;
    thread.tid = *tid;
    used.insert(*tid);
  }
  std::uint32_t next = kFirstSyntheticTid;
  for (auto& [key, thread] : process.threads) {
    if (thread.tid != 0) continue;
    while (used.contains(next) || next == process.pid) ++next;
    thread.tid = next++;
  }
}

// Gives threads with top-level samples a tid that no other thread of any process has, because
// catapult joins such samples to threads by tid alone.
void separate_sampled(const std::vector<Processes::value_type*>& order) {
  std::map<std::uint32_t, std::size_t> used;
  std::set<std::int64_t> pids;
  for (const Processes::value_type* process : order) {
    pids.insert(process->second.pid);
    for (const auto& [key, thread] : process->second.threads) ++used[thread.tid];
  }
  std::uint32_t next = kFirstSampledTid;
  for (Processes::value_type* const process : order)
    for (auto& [key, thread] : process->second.threads) {
      if (!thread.has_samples || used[thread.tid] == 1) continue;
      while (used.contains(next) || pids.contains(next)) ++next;
      thread.tid = next++;
    }
}

// Returns the note by which a later merge puts the same thread of other files into this row.
std::optional<RowSource> source_of(const ProcessKey& process, const ThreadKey& key,
                                   const Thread& thread) {
  if (key.is_foreign && !process.is_foreign)
    return RowSource{key.tid.text, BesideMain{thread.process, key.pid.text}, thread.is_gpu};
  if (plain_tid(key.tid.text) == thread.tid) return std::nullopt;
  return RowSource{key.tid.text};
}

OutputProcess describe(const ProcessKey& process_key, const Process& process,
                       const std::vector<const Process::Row*>& rows) {
  OutputProcess output;
  output.rank = process_key.rank;
  output.pid = process.pid;
  output.name = process.name.empty() ? fmt::format("rank {}", output.rank) : process.name;
  output.labels = fmt::format("{}", fmt::join(process.labels, ","));
  output.is_main = !process_key.is_foreign;
  output.title = process.title;
  output.source_pid = process_key.pid.text;
  output.sort_index = process.sort_index;
  for (const Process::Row* const row : rows) {
    const auto& [key, thread] = *row;
    const bool is_of_other = key.is_foreign && !process_key.is_foreign;
    output.tracks.push_back(
        {thread.tid,
         row_title(thread.process, thread_title(key.tid.text, thread.name, thread.is_gpu)),
         source_of(process_key, key, thread), thread.sort_index,
         is_of_other ? thread.process_sort_index : std::nullopt});
  }
  return output;
}

// Finds the process of a key. A track without events may name a process that is not there; its
// facts go to the first process of its rank.
const Process& process_of(const Processes& processes, const ProcessKey& key) {
  const auto found = processes.find(key);
  return found != processes.end() ? found->second
                                  : processes.lower_bound({key.rank, false, {}})->second;
}

// Gives each row of the output a number, by pid and tid.
using RowNumbers = std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t>;

TrackTarget target_of(const Process& process, const Place& place, RowNumbers& numbers) {
  // A track without events has only metadata and counters of its process.
  const auto thread = process.threads.find(place.thread);
  const std::uint32_t tid = thread == process.threads.end() ? process.main_tid : thread->second.tid;
  const auto number = static_cast<std::uint32_t>(numbers.size());
  return {std::to_string(process.pid),
          std::to_string(tid),
          place.process.rank,
          numbers.try_emplace({process.pid, tid}, number).first->second,
          process.place,
          false};
}

// A thread by its canonical ids. It may be written in several ways, 7 and "7", and share its
// numbers with a row of a GPU.
using ThreadIds = std::pair<std::string, std::string>;

ThreadIds thread_of(const TrackFacts& facts) {
  return {canonical_id(facts.pid), canonical_id(facts.tid)};
}

std::set<ThreadIds> threads_with_begins(const FileSurvey& survey) {
  std::set<ThreadIds> begun;
  for (const TrackFacts& facts : survey.tracks)
    if (facts.has_begins) begun.insert(thread_of(facts));
  return begun;
}

}  // namespace

TrackPlan::TrackPlan(const std::vector<FileSurvey>& surveys,
                     const std::vector<FileRank>& ranks_of_files, PidLayout layout) {
  Processes processes;
  const std::vector<std::vector<Place>> places =
      gather_tracks(surveys, ranks_of_files, layout, processes);
  drop_empty(processes);
  const std::vector<Processes::value_type*> order = in_order(processes);
  for (auto& [key, process] : processes) process.pid = key.rank;
  if (layout == PidLayout::split) number_split(order);
  std::vector<std::vector<const Process::Row*>> rows;
  for (Processes::value_type* const process : order) {
    const ThreadKey* const main = find_main_thread(process->first, process->second);
    rows.push_back(rows_in_order(process->second, main));
    assign_tids(process->first, process->second,
                main == nullptr ? main : &rows.back().front()->first);
  }
  separate_sampled(order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Processes::value_type* const process = order[i];
    process->second.place = static_cast<std::uint32_t>(i);
    processes_.push_back(describe(process->first, process->second, rows[i]));
    const std::vector<OutputTrack>& tracks = processes_.back().tracks;
    if (!tracks.empty()) process->second.main_tid = tracks.front().tid;
    if (ranks_.empty() || ranks_.back() != process->first.rank)
      ranks_.push_back(process->first.rank);
  }
  files_.resize(surveys.size());
  RowNumbers numbers;
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    const std::set<ThreadIds> begun = threads_with_begins(surveys[file]);
    std::set<std::int64_t> ranks;
    if (!ranks_of_files[file].is_merged()) ranks.insert(ranks_of_files[file].rank);
    for (std::size_t i = 0; i < surveys[file].tracks.size(); ++i) {
      const TrackFacts& facts = surveys[file].tracks[i];
      const Place& place = places[file][i];
      TrackTarget target = target_of(process_of(processes, place.process), place, numbers);
      target.has_begins = !begun.empty() && begun.contains(thread_of(facts));
      add_track(file, facts, std::move(target));
      ranks.insert(place.process.rank);
      // Facts of the pid itself belong to the CPU, and to the pid's rank.
      if (facts.gpu || !place.is_of_process) continue;
      files_[file].processes.try_emplace(
          canonical_id(facts.pid), ProcessTarget{files_[file].targets.back().pid,
                                                 facts.is_of_other_process() ? "" : place.title});
    }
    files_[file].ranks.assign(ranks.begin(), ranks.end());
  }
}

void TrackPlan::add_track(std::size_t file, const TrackFacts& facts, TrackTarget target) {
  std::string key;
  track_key(facts.pid, facts.tid, key);
  files_[file].keys.intern(facts.said_gpu ? add_gpu(key, *facts.said_gpu) : key);
  files_[file].has_gpu_tracks |= facts.said_gpu.has_value();
  files_[file].targets.push_back(std::move(target));
}

const TrackTarget* TrackPlan::planned(std::size_t file, std::string_view key) const {
  const std::optional<std::uint32_t> track = files_[file].keys.find(key);
  return track ? &files_[file].targets[*track] : nullptr;
}

const TrackTarget* TrackPlan::target(std::size_t file, std::string_view key) const {
  const TrackTarget* const of_key = planned(file, key);
  return of_key != nullptr ? of_key : planned(file, without_gpu(key));
}

const TrackTarget* TrackPlan::target(std::size_t file, std::string_view pid, std::string_view tid,
                                     std::string& scratch) const {
  return target(file, track_key(pid, tid, scratch));
}

const ProcessTarget* TrackPlan::process(std::size_t file, const std::string& pid) const {
  const auto found = files_[file].processes.find(pid);
  return found == files_[file].processes.end() ? nullptr : &found->second;
}

bool TrackPlan::covers(const TrackPlan& other) const {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const FileTracks& tracks = other.files_[file];
    if (files_[file].has_gpu_tracks != tracks.has_gpu_tracks) return false;
    for (std::uint32_t i = 0; i < tracks.targets.size(); ++i) {
      const TrackTarget* const own = planned(file, tracks.keys[i]);
      if (own == nullptr || !own->is_same_place(tracks.targets[i])) return false;
    }
  }
  return true;
}

bool TrackPlan::knows_begins(const TrackPlan& other, std::size_t file) const {
  const FileTracks& tracks = other.files_[file];
  for (std::uint32_t i = 0; i < tracks.targets.size(); ++i) {
    if (!tracks.targets[i].has_begins) continue;
    const TrackTarget* const own = planned(file, tracks.keys[i]);
    if (own == nullptr || !own->has_begins) return false;
  }
  return true;
}

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
