#include "merge/track_plan.h"

#include "merge/track_key.h"
#include "merge/track_names.h"

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
// Processes of rank 3 are 301, 302, ... where that leaves room enough for each rank's.
constexpr std::int64_t kLeastPidsOfRank = 100;
constexpr std::int64_t kMaxPid = 4'294'967'295;  // Perfetto's are of 32 bits

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
  std::string process;  // what its process is called, where that is no group of its own
  std::optional<std::int64_t> merged_sort_index;  // of a file that was merged before
  std::uint32_t tid = 0;
};

// A process of the output: of a rank, or one beside its main one.
struct ProcessKey {
  std::int64_t rank = 0;
  bool is_foreign = false;
  NaturalId pid;  // empty for the main process
  friend bool operator<(const ProcessKey& a, const ProcessKey& b) {
    return std::tie(a.rank, a.is_foreign, a.pid) < std::tie(b.rank, b.is_foreign, b.pid);
  }
};

struct Process {
  std::map<ThreadKey, Thread> threads;
  std::string name;
  std::string title;  // of one beside the main one
  std::vector<std::string> labels;
  bool has_counters = false;
  std::int64_t pid = 0;
  std::uint32_t main_tid = 1;

  bool is_empty() const { return threads.empty() && !has_counters; }
  bool is_gpu() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& thread) { return thread.second.is_gpu; });
  }
};

using Processes = std::map<ProcessKey, Process>;

// Where a (pid, tid) of a file goes.
struct Place {
  ProcessKey process;
  ThreadKey thread;
};

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

// Of a process beside the main one.
std::string title_of(const TrackFacts& facts, const std::string& pid, const ProcessFacts* process) {
  if (facts.gpu) return facts.gpu->empty() ? "GPU" : "GPU " + *facts.gpu;
  return process_title(pid, process);
}

// Gathers the threads of one file into the processes of the output.
class FileTracksReader {
 public:
  FileTracksReader(const FileSurvey& survey, const FileRank& rank, PidLayout layout,
                   Processes& processes)
      : survey_(survey),
        rank_(rank),
        layout_(layout),
        processes_(processes),
        main_pid_(rank.is_merged() ? "" : find_main_pid(survey)),
        was_merged_(rank.is_merged() || survey.evidence.was_merged_by_us()) {}

  // The place of each track.
  std::vector<Place> run() {
    if (!rank_.is_merged()) processes_[{rank_.rank, false, {}}];
    std::vector<Place> places;
    for (const TrackFacts& facts : survey_.tracks) places.push_back(add(facts));
    return places;
  }

 private:
  Place add(const TrackFacts& facts) {
    const std::string pid = canonical_id(facts.pid);
    const auto found = survey_.processes.find(pid);
    const ProcessFacts* const process_facts =
        found == survey_.processes.end() ? nullptr : &found->second;
    const ThreadKey thread = thread_key(facts, pid, process_facts);
    const std::int64_t rank = rank_.rank_of(pid);
    Place place{layout_ == PidLayout::split ? ProcessKey{rank, thread.is_foreign, thread.pid}
                                            : ProcessKey{rank, false, {}},
                thread};
    Process& process = processes_[place.process];
    name(process, place, facts, pid, process_facts);
    process.has_counters |= facts.has_counters;
    if (process_facts != nullptr && !process_facts->labels.empty() &&
        (facts.events > 0 || facts.has_counters) &&
        std::find(process.labels.begin(), process.labels.end(), process_facts->labels) ==
            process.labels.end())
      process.labels.push_back(process_facts->labels);
    if (facts.events > 0) add_thread(process.threads[thread], place, facts, pid, process_facts);
    return place;
  }

  // Each pid of a merged file is the main process of its rank, unless it says otherwise. Events
  // without a pid are a process of their own, as they are to whoever pairs begin and end by pid.
  ThreadKey thread_key(const TrackFacts& facts, const std::string& pid,
                       const ProcessFacts* process) const {
    const std::string tid = canonical_id(facts.tid);
    if (facts.gpu) return {true, {*facts.gpu}, {tid}};  // as if torch had written it
    if (!rank_.is_merged())
      return pid == main_pid_ ? ThreadKey{false, {}, {tid}} : ThreadKey{true, {pid}, {tid}};
    if (process != nullptr && process->beside_main)
      return {true, {process->beside_main->source_pid}, {tid}};
    return {pid.empty(), {}, {tid}};
  }

  void name(Process& process, const Place& place, const TrackFacts& track, const std::string& pid,
            const ProcessFacts* facts) const {
    if (!process.name.empty()) return;
    const std::int64_t rank = place.process.rank;
    if (place.process.is_foreign) {
      process.title = title_of(track, pid, facts);
      process.name = track.gpu ? fmt::format("rank {} · {}", rank, process.title)
                               : process_title_of_rank(rank, pid, facts);
    } else if (!place.thread.is_foreign && facts != nullptr) {
      process.name = rank_title(rank, facts->name, pid);
    }
  }

  void add_thread(Thread& thread, const Place& place, const TrackFacts& facts,
                  const std::string& pid, const ProcessFacts* process) const {
    thread.events += facts.events;
    thread.is_gpu |= facts.is_gpu;
    if (process != nullptr) thread.is_gpu |= is_gpu_label(process->labels);
    const std::string& own_pid = place.process.is_foreign ? place.process.pid.text : pid;
    thread.is_os_main |=
        place.thread.is_foreign == place.process.is_foreign && place.thread.tid.text == own_pid;
    if (thread.name.empty()) thread.name = facts.name;
    if (place.thread.is_foreign && !place.process.is_foreign)
      thread.process = title_of(facts, pid, process);
    if (was_merged_ && !thread.merged_sort_index) thread.merged_sort_index = facts.sort_index;
  }

  const FileSurvey& survey_;
  const FileRank& rank_;
  PidLayout layout_;
  Processes& processes_;
  std::string main_pid_;
  bool was_merged_;
};

// Processes without events, but the main one of a rank that has no other.
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

// As they are shown: by rank, its main process, its GPUs, the rest.
std::vector<Processes::value_type*> in_order(Processes& processes) {
  std::vector<Processes::value_type*> order;
  for (auto& process : processes) order.push_back(&process);
  const auto place = [](const Processes::value_type* process) {
    const auto& [key, one] = *process;
    return std::tuple{key.rank, !key.is_foreign ? 0 : one.is_gpu() ? 1 : 2};
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return order;
}

// Never 0, which Perfetto takes for no tid where a thread has it, too.
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

// The main thread: the one whose tid is the process's pid, the one an earlier merge put first, or
// the busiest of the main process, GPU rows last (Composer's files have them in the main process).
// A process beside the main one has none but by its pid: a GPU's streams are equals.
const ThreadKey* find_main_thread(const ProcessKey& process_key, const Process& process) {
  const ThreadKey* best = nullptr;
  std::tuple<bool, bool, bool, bool, std::uint64_t> best_score;
  for (const auto& [key, thread] : process.threads) {
    if (process_key.is_foreign && (!thread.is_os_main || thread.is_gpu)) continue;
    const std::tuple score{!key.is_foreign, thread.merged_sort_index == std::int64_t{0},
                           thread.is_os_main, !thread.is_gpu, thread.events};
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

OutputProcess describe(const ProcessKey& process_key, const Process& process,
                       const ThreadKey* main) {
  OutputProcess output;
  output.rank = process_key.rank;
  output.pid = process.pid;
  output.name = process.name.empty() ? fmt::format("rank {}", output.rank) : process.name;
  output.labels = fmt::format("{}", fmt::join(process.labels, ", "));
  output.is_main = !process_key.is_foreign;
  output.title = process.title;
  output.source_pid = process_key.pid.text;
  // Main thread, other threads of its process, GPU rows, the rest; a file merged before keeps its
  // order.
  using Rank = std::tuple<int, NaturalId, std::int64_t>;
  std::vector<std::tuple<Rank, const ThreadKey*, const Thread*>> order;
  for (const auto& [key, thread] : process.threads) {
    const int group = &key == main ? 0 : !key.is_foreign ? 1 : thread.is_gpu ? 2 : 3;
    order.emplace_back(Rank{group, key.pid, thread.merged_sort_index.value_or(0)}, &key, &thread);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  for (const auto& [place, key, thread] : order)
    output.tracks.push_back(
        {thread->tid,
         row_title(thread->process, thread_title(key->tid.text, thread->name, thread->is_gpu))});
  return output;
}

// A track without events may be of a process that is not there; what it has is the rank's.
const Process& process_of(const Processes& processes, const ProcessKey& key) {
  const auto found = processes.find(key);
  return found != processes.end() ? found->second
                                  : processes.lower_bound({key.rank, false, {}})->second;
}

// What tells a process from the others that become one with it; empty where none do.
std::string title_in_process(const FileSurvey& survey, const std::string& pid, const Place& place) {
  if (!place.thread.is_foreign || place.process.is_foreign) return {};
  const auto found = survey.processes.find(pid);
  return process_title(pid, found == survey.processes.end() ? nullptr : &found->second);
}

}  // namespace

TrackPlan::TrackPlan(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks,
                     PidLayout layout) {
  Processes processes;
  std::vector<std::vector<Place>> places;
  for (std::size_t file = 0; file < surveys.size(); ++file)
    places.push_back(FileTracksReader(surveys[file], ranks[file], layout, processes).run());
  drop_empty(processes);
  const std::vector<Processes::value_type*> order = in_order(processes);
  for (auto& [key, process] : processes) process.pid = key.rank;
  if (layout == PidLayout::split) number_split(order);
  for (Processes::value_type* const process : order) {
    const ThreadKey* const main = find_main_thread(process->first, process->second);
    assign_tids(process->first, process->second, main);
    processes_.push_back(describe(process->first, process->second, main));
    const std::vector<OutputTrack>& tracks = processes_.back().tracks;
    if (!tracks.empty()) process->second.main_tid = tracks.front().tid;
    if (ranks_.empty() || ranks_.back() != process->first.rank)
      ranks_.push_back(process->first.rank);
  }
  files_.resize(surveys.size());
  std::string scratch;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> numbers;
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    for (std::size_t i = 0; i < surveys[file].tracks.size(); ++i) {
      const TrackFacts& facts = surveys[file].tracks[i];
      const Process& process = process_of(processes, places[file][i].process);
      track_key(facts.pid, facts.tid, scratch);
      files_[file].keys.intern(facts.said_gpu ? add_gpu(scratch, *facts.said_gpu) : scratch);
      files_[file].has_gpu_tracks |= facts.said_gpu.has_value();
      // Without events only metadata and counters of the process come here.
      const auto thread = process.threads.find(places[file][i].thread);
      const std::uint32_t tid =
          thread == process.threads.end() ? process.main_tid : thread->second.tid;
      const std::uint32_t number =
          numbers.try_emplace({process.pid, tid}, static_cast<std::uint32_t>(numbers.size()))
              .first->second;
      files_[file].targets.push_back(
          {std::to_string(process.pid), std::to_string(tid), places[file][i].process.rank, number});
      const std::string pid = canonical_id(facts.pid);
      if (facts.gpu) continue;  // what is of the pid itself is the CPU's
      files_[file].processes.try_emplace(
          pid, ProcessTarget{std::to_string(process.pid),
                             title_in_process(surveys[file], pid, places[file][i])});
    }
  }
}

std::vector<std::int64_t> TrackPlan::ranks_of(std::size_t file) const {
  std::set<std::int64_t> ranks;
  for (const TrackTarget& target : files_[file].targets) ranks.insert(target.rank);
  return {ranks.begin(), ranks.end()};
}

const TrackTarget* TrackPlan::target(std::size_t file, std::string_view key) const {
  const FileTracks& tracks = files_[file];
  std::optional<std::uint32_t> track = tracks.keys.find(key);
  if (!track) track = tracks.keys.find(without_gpu(key));
  return track ? &tracks.targets[*track] : nullptr;
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
      const std::optional<std::uint32_t> track = files_[file].keys.find(tracks.keys[i]);
      if (!track || files_[file].targets[*track] != tracks.targets[i]) return false;
    }
  }
  return true;
}

}  // namespace traceloom
