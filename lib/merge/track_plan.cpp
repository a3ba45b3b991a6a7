#include "merge/track_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

constexpr std::uint32_t kFirstSyntheticTid = 10'000'000;

// A whole number that a tid can be, or nullopt.
std::optional<std::uint32_t> plain_tid(std::string_view canonical) {
  std::uint32_t tid = 0;
  const char* const end = canonical.data() + canonical.size();
  const auto [stop, error] = std::from_chars(canonical.data(), end, tid);
  if (error != std::errc{} || stop != end || tid == 0) return std::nullopt;
  return tid;
}

// Numbers by value and before text, text by itself.
struct NaturalId {
  std::string text;
  friend bool operator<(const NaturalId& a, const NaturalId& b) { return a.key() < b.key(); }

 private:
  std::tuple<int, std::int64_t, std::string_view> key() const {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && stop == text.data() + text.size()) return {0, number, {}};
    return {1, 0, text};
  }
};

// A thread of a rank. The main processes of all files of a rank are one process, whatever their
// pids are called there (Composer writes the rank, torch the pid of the operating system).
struct ThreadKey {
  bool is_foreign = false;  // of another process than the main one: a GPU, "Spans", a worker
  NaturalId pid;            // empty for the main process
  NaturalId tid;
  friend bool operator<(const ThreadKey& a, const ThreadKey& b) {
    return std::tie(a.is_foreign, a.pid, a.tid) < std::tie(b.is_foreign, b.pid, b.tid);
  }
};

struct Thread {
  std::uint64_t events = 0;
  bool is_gpu = false;
  bool is_os_main = false;  // its tid is the pid of its process
  std::string name;
  std::string process;                            // what the process is called, for foreign threads
  std::optional<std::int64_t> merged_sort_index;  // of a file that was merged before
  std::uint32_t tid = 0;
};

struct Process {
  std::map<ThreadKey, Thread> threads;
  std::string name;
  std::vector<std::string> labels;
};

bool is_gpu_label(const std::string& labels) {
  return labels.starts_with("GPU");
}

// The pid of the process that ran the training loop: the one labelled CPU, the one that Composer
// marked with the rank, or the one with most events that are not of a GPU.
std::string find_main_pid(const FileSurvey& survey) {
  std::map<std::string, std::uint64_t> events;
  for (const TrackFacts& track : survey.tracks)
    if (!track.is_gpu) events[canonical_id(track.pid)] += track.events;
  std::string best;
  std::tuple<int, std::uint64_t> best_score{-1, 0};
  for (const auto& [pid, count] : events) {
    if (count == 0) continue;
    const auto process = survey.processes.find(pid);
    const std::string labels = process == survey.processes.end() ? "" : process->second.labels;
    const bool is_marked =
        std::any_of(survey.evidence.rank_marks.begin(), survey.evidence.rank_marks.end(),
                    [&, &pid = pid](const Mark& mark) { return mark.pid == pid; });
    const int trust = labels == "CPU" || is_marked          ? 2
                      : is_gpu_label(labels) || pid.empty() ? 0
                                                            : 1;
    if (const std::tuple score{trust, count}; score > best_score) {
      best = pid;
      best_score = score;
    }
  }
  return best;
}

std::string join_words(const std::string& first, const std::string& second) {
  if (first.empty() || first == second) return second;
  return second.empty() ? first : first + " · " + second;
}

std::string process_title(const std::string& pid, const ProcessFacts* facts) {
  if (facts != nullptr && !facts->labels.empty() && facts->labels != "CPU") return facts->labels;
  const std::string_view plain = unquoted(pid);
  if (plain != pid) return std::string(plain);
  if (facts != nullptr && !facts->name.empty()) return fmt::format("{} {}", facts->name, pid);
  return pid.empty() ? "no pid" : "pid " + pid;
}

std::string gpu_title(const std::string& gpu) {
  return gpu.empty() ? "GPU" : "GPU " + gpu;
}

std::string thread_title(const ThreadKey& key, const Thread& thread) {
  const std::string& tid = key.tid.text;
  std::string own = thread.name;
  while (!own.empty() && own.back() == ' ') own.pop_back();
  if (own.empty())
    own = tid == "\"\""        ? "unnamed"
          : tid.empty()        ? "no tid"
          : tid.front() == '"' ? std::string(unquoted(tid))
          : thread.is_gpu      ? "stream " + tid
                               : "thread " + tid;
  return join_words(thread.process, own);
}

bool starts_with_rank(std::string name, std::int64_t rank) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  const std::string title = fmt::format("rank {}", rank);
  return name.starts_with(title) && (name.size() == title.size() || name[title.size()] == ' ');
}

std::string rank_title(std::int64_t rank, const std::string& process, const std::string& pid) {
  if (starts_with_rank(process, rank)) return process;
  std::string title = fmt::format("rank {}", rank);
  if (process.empty()) return title;
  return plain_tid(pid) && pid != std::to_string(rank)
             ? fmt::format("{} · {} (pid {})", title, process, pid)
             : fmt::format("{} · {}", title, process);
}

std::string_view track_key(std::string_view pid, std::string_view tid, std::string& scratch) {
  scratch.assign(pid);
  scratch.push_back('\0');
  scratch.append(tid);
  return scratch;
}

std::string_view gpu_track_key(std::string_view pid, std::string_view tid, std::string_view gpu,
                               std::string& scratch) {
  track_key(pid, tid, scratch);
  scratch.push_back('\0');
  scratch.append(gpu);
  return scratch;
}

// Gathers the threads of one file into the processes of their ranks.
void add_file(const FileSurvey& survey, const FileRank& file_rank,
              std::map<std::int64_t, Process>& processes,
              std::vector<std::pair<std::int64_t, ThreadKey>>& keys) {
  const std::string main_pid = file_rank.is_merged() ? "" : find_main_pid(survey);
  const bool was_merged = file_rank.is_merged() || survey.evidence.was_merged_by_us();
  for (const TrackFacts& facts : survey.tracks) {
    const std::string pid = canonical_id(facts.pid);
    const std::int64_t rank = file_rank.rank_of(pid);
    // Each pid of a merged file is the main process of its rank. Events without a pid are a process
    // of their own, as they are to whoever pairs begin and end by pid.
    const bool is_foreign = file_rank.is_merged() ? pid.empty() : pid != main_pid;
    ThreadKey key{is_foreign, {pid}, {canonical_id(facts.tid)}};
    if (!key.is_foreign) key.pid.text.clear();
    if (facts.gpu) key = {true, {*facts.gpu}, key.tid};  // as if torch had written it
    keys.emplace_back(rank, key);
    Process& process = processes[rank];
    const auto found = survey.processes.find(pid);
    const ProcessFacts* process_facts = found == survey.processes.end() ? nullptr : &found->second;
    if (!key.is_foreign && process_facts != nullptr && process.name.empty())
      process.name = rank_title(rank, process_facts->name, pid);
    if (process_facts != nullptr && !process_facts->labels.empty() && facts.events > 0 &&
        std::find(process.labels.begin(), process.labels.end(), process_facts->labels) ==
            process.labels.end())
      process.labels.push_back(process_facts->labels);
    if (facts.events == 0) continue;
    Thread& thread = process.threads[key];
    thread.events += facts.events;
    thread.is_gpu |= facts.is_gpu;
    if (process_facts != nullptr) thread.is_gpu |= is_gpu_label(process_facts->labels);
    thread.is_os_main |= !key.is_foreign && key.tid.text == pid;
    if (thread.name.empty()) thread.name = facts.name;
    if (key.is_foreign)
      thread.process = facts.gpu ? gpu_title(*facts.gpu) : process_title(pid, process_facts);
    if (was_merged && !thread.merged_sort_index) thread.merged_sort_index = facts.sort_index;
  }
}

// The main thread: the one whose tid is the process's pid, the one an earlier merge put first, or
// the busiest of the main process, GPU rows last (Composer's files have them in the main process).
const ThreadKey* find_main_thread(const Process& process) {
  const ThreadKey* best = nullptr;
  std::tuple<bool, bool, bool, bool, std::uint64_t> best_score;
  for (const auto& [key, thread] : process.threads) {
    const std::tuple score{!key.is_foreign, thread.merged_sort_index == std::int64_t{0},
                           thread.is_os_main, !thread.is_gpu, thread.events};
    if (best == nullptr || score > best_score) {
      best = &key;
      best_score = score;
    }
  }
  return best;
}

void assign_tids(std::int64_t rank, Process& process, const ThreadKey* main) {
  std::set<std::uint32_t> used;
  for (auto& [key, thread] : process.threads) {
    const std::optional<std::uint32_t> tid =
        key.is_foreign ? std::nullopt : plain_tid(key.tid.text);
    // Perfetto takes the thread whose tid is the pid for the main thread.
    if (!tid || (*tid == rank && &key != main)) continue;
    thread.tid = *tid;
    used.insert(*tid);
  }
  std::uint32_t next = kFirstSyntheticTid;
  for (auto& [key, thread] : process.threads) {
    if (thread.tid != 0) continue;
    while (used.contains(next) || next == rank) ++next;
    thread.tid = next++;
  }
}

OutputRank describe_rank(std::int64_t rank, const Process& process, const ThreadKey* main) {
  OutputRank output;
  output.rank = rank;
  output.name = process.name.empty() ? fmt::format("rank {}", rank) : process.name;
  output.labels = fmt::format("{}", fmt::join(process.labels, ", "));
  // Main thread, other threads of its process, GPU rows, the rest; a file merged before keeps its
  // order.
  std::vector<std::tuple<std::int64_t, int, const ThreadKey*, const Thread*>> order;
  for (const auto& [key, thread] : process.threads) {
    const int group = &key == main ? 0 : !key.is_foreign ? 1 : thread.is_gpu ? 2 : 3;
    order.emplace_back(thread.merged_sort_index.value_or(0), group, &key, &thread);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (const auto& [index, group, key, thread] : order)
    output.tracks.push_back({thread->tid, thread_title(*key, *thread)});
  return output;
}

}  // namespace

TrackPlan::TrackPlan(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks) {
  std::map<std::int64_t, Process> processes;
  std::vector<std::vector<std::pair<std::int64_t, ThreadKey>>> keys(surveys.size());
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    if (!ranks[file].is_merged()) processes[ranks[file].rank];
    add_file(surveys[file], ranks[file], processes, keys[file]);
  }
  std::map<std::int64_t, std::uint32_t> main_tids;
  for (auto& [rank, process] : processes) {
    const ThreadKey* const main = find_main_thread(process);
    assign_tids(rank, process, main);
    ranks_.push_back(describe_rank(rank, process, main));
    main_tids[rank] = main == nullptr ? 1 : process.threads.at(*main).tid;
  }
  files_.resize(surveys.size());
  std::string scratch;
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    for (std::size_t i = 0; i < surveys[file].tracks.size(); ++i) {
      const TrackFacts& facts = surveys[file].tracks[i];
      const auto& [rank, key] = keys[file][i];
      const std::string_view pid = facts.pid;
      files_[file].keys.intern(facts.said_gpu
                                   ? gpu_track_key(pid, facts.tid, *facts.said_gpu, scratch)
                                   : track_key(pid, facts.tid, scratch));
      files_[file].has_gpu_tracks |= facts.said_gpu.has_value();
      // Without events only metadata and counters of the process come here.
      const auto thread = processes[rank].threads.find(key);
      const std::uint32_t tid =
          thread == processes[rank].threads.end() ? main_tids[rank] : thread->second.tid;
      files_[file].targets.push_back({std::to_string(rank), std::to_string(tid)});
    }
  }
}

const TrackTarget* TrackPlan::target(std::size_t file, std::string_view pid, std::string_view tid,
                                     std::string& scratch) const {
  const std::optional<std::uint32_t> track = files_[file].keys.find(track_key(pid, tid, scratch));
  return track ? &files_[file].targets[*track] : nullptr;
}

const TrackTarget* TrackPlan::gpu_target(std::size_t file, std::string_view pid,
                                         std::string_view tid, std::string_view said_gpu,
                                         std::string& scratch) const {
  const std::optional<std::uint32_t> track =
      files_[file].keys.find(gpu_track_key(pid, tid, said_gpu, scratch));
  return track ? &files_[file].targets[*track] : nullptr;
}

bool TrackPlan::covers(const TrackPlan& other) const {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const FileTracks& tracks = other.files_[file];
    if (files_[file].has_gpu_tracks != tracks.has_gpu_tracks) return false;
    for (std::uint32_t i = 0; i < tracks.targets.size(); ++i) {
      const std::optional<std::uint32_t> track = files_[file].keys.find(tracks.keys[i]);
      if (!track || files_[file].targets[*track] != tracks.targets[i]) return false;
    }
  }
  return true;
}

}  // namespace traceloom
