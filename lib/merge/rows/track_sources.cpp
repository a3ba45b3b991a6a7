#include "merge/rows/track_sources.h"

#include "merge/rows/track_plan.h"

#include <set>
#include <utility>

namespace traceloom {
namespace {

enum class Trust { little, some, full };

// A process with events that are not of a GPU.
struct HostProcess {
  Trust trust = Trust::little;
  std::uint64_t events = 0;
  std::set<std::string> tids = {};
};

using HostProcesses = std::map<std::string, HostProcess>;  // key: pid

Trust trust_in(const FileSurvey& survey, const std::string& pid) {
  const auto process = survey.processes.find(pid);
  const std::string labels = process == survey.processes.end() ? "" : process->second.labels;
  if (labels == "CPU" || survey.evidence.rank_marks.names(pid)) return Trust::full;
  return is_gpu_label(labels) || pid.empty() ? Trust::little : Trust::some;
}

HostProcesses host_processes(const FileSurvey& survey) {
  HostProcesses processes;
  for (const TrackFacts& track : survey.tracks) {
    if (track.is_gpu || track.events == 0) continue;
    HostProcess& process = processes[canonical_id(track.pid)];
    process.events += track.events;
    process.tids.insert(canonical_id(track.tid));
  }
  for (auto& [pid, process] : processes) process.trust = trust_in(survey, pid);
  return processes;
}

// Returns the first of the best processes, or end() if there is none.
HostProcesses::const_iterator find_best(const HostProcesses& processes) {
  return std::ranges::max_element(processes, {}, [](const auto& process) {
    return std::pair(process.second.trust, process.second.events);
  });
}

// Returns each pid with its events and threads in all files.
HostProcesses sum_of(const std::vector<HostProcesses>& files) {
  HostProcesses sums;
  for (const HostProcesses& processes : files)
    for (const auto& [pid, process] : processes) {
      HostProcess& sum = sums[pid];
      sum.trust = std::max(sum.trust, process.trust);
      sum.events += process.events;
      sum.tids.insert(process.tids.begin(), process.tids.end());
    }
  return sums;
}

// Finds which process of a file is the main one of its rank, and what the files of the
// rank say of the other processes.
// The main process of a file is found in this order:
//
// 1. the process that is labelled CPU, or that Composer marked with the rank;
// 2. else the process with most events that are not of a GPU. Events are counted over all files of
//    the rank that have none of those marks, so that two processes do not change places from file
//    to file.
//
// Main processes with other pids in other files of the rank are one process with it (Composer
// writes the rank as pid, a restarted job has another pid), unless they have threads of one tid:
// two processes that both have a thread 1 stay two.
//
// A file of several ranks takes no part in this; only its own facts count for it.
class RankProcesses {
 public:
  // `surveys` and `ranks` must outlive this object.
  RankProcesses(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks)
      : surveys_(surveys), ranks_(ranks), main_(surveys.size()) {
    std::map<std::int64_t, std::vector<std::size_t>> files_of;
    for (std::size_t file = 0; file < surveys.size(); ++file)
      if (!ranks[file].is_merged()) files_of[ranks[file].rank].push_back(file);
    for (const auto& [rank, files] : files_of) {
      find_main(rank, files);
      for (const std::size_t file : files)
        for (const auto& [pid, facts] : surveys[file].processes)
          if (!is_main(file, pid) && (!facts.name.empty() || !facts.labels.empty()))
            beside_main_[rank].try_emplace(pid, &facts);
    }
  }

  // True for the process that ran the training loop.
  bool is_main(std::size_t file, const std::string& pid) const { return main_[file] == pid; }
  // For the file's main process, returns what the file itself says. For another process, returns
  // what the first file of the rank that mentions it says, or nullptr if none does.
  const ProcessFacts* facts_of(std::size_t file, const std::string& pid) const {
    if (ranks_[file].is_merged() || is_main(file, pid)) {
      const auto own = surveys_[file].processes.find(pid);
      return own == surveys_[file].processes.end() ? nullptr : &own->second;
    }
    const auto of_rank = beside_main_.find(ranks_[file].rank);
    if (of_rank == beside_main_.end()) return nullptr;
    const auto found = of_rank->second.find(pid);
    return found == of_rank->second.end() ? nullptr : found->second;
  }

 private:
  void find_main(std::int64_t rank, const std::vector<std::size_t>& files) {
    std::vector<HostProcesses> processes;
    processes.reserve(files.size());
    for (const std::size_t file : files) processes.push_back(host_processes(surveys_[file]));
    const HostProcesses sums = sum_of(processes);
    std::set<std::string> pids;    // pids of main processes
    std::set<std::string> others;  // pids next to a main process in some file
    std::map<std::string, std::set<std::string>> pids_with;  // main processes by the tids they have
    const auto settle = [&](std::size_t i, const std::string& main) {
      main_[files[i]] = main;
      pids.insert(main);
      for (const std::string& tid : sums.find(main)->second.tids) pids_with[tid].insert(main);
      for (const auto& [pid, process] : processes[i])
        if (pid != main) others.insert(pid);
    };
    for (std::size_t i = 0; i < files.size(); ++i)
      if (const auto best = find_best(processes[i]);
          best != processes[i].end() && best->second.trust == Trust::full)
        settle(i, best->first);
    if (pids.empty() && !sums.empty()) pids.insert(find_best(sums)->first);
    const auto settle_by_known = [&](std::size_t i) {
      HostProcesses found = processes[i];
      std::erase_if(found, [&](const auto& process) { return !pids.contains(process.first); });
      if (!main_[files[i]] && !found.empty()) settle(i, find_best(found)->first);
    };
    // Returns whether a main process with another pid has a thread with one of the tids. A pid that
    // is the rank clashes with none: it is no pid of an operating system.
    const auto clashes = [&, rank_pid = std::to_string(rank)](const std::string& pid) {
      const auto is_other = [&](const std::string& main) {
        return main != pid && main != rank_pid;
      };
      return pid != rank_pid &&
             std::ranges::any_of(sums.find(pid)->second.tids, [&](const std::string& tid) {
               const auto found = pids_with.find(tid);
               return found != pids_with.end() && std::ranges::any_of(found->second, is_other);
             });
    };
    for (std::size_t i = 0; i < files.size(); ++i) settle_by_known(i);
    for (std::size_t i = 0; i < files.size(); ++i) {
      settle_by_known(i);
      const auto best = find_best(processes[i]);
      if (!main_[files[i]] && best != processes[i].end() && !others.contains(best->first) &&
          !clashes(best->first))
        settle(i, best->first);
    }
  }

  const std::vector<FileSurvey>& surveys_;
  const std::vector<FileRank>& ranks_;
  std::vector<std::optional<std::string>> main_;  // one a file
  // Keys: rank, pid.
  std::map<std::int64_t, std::map<std::string, const ProcessFacts*>> beside_main_;
};

// Gathers the threads of one file into the processes of the output.
class FileTracksReader {
 public:
  FileTracksReader(const FileSurvey& survey, std::size_t file, const FileRank& rank,
                   const RankProcesses& known, PidLayout layout, Processes& processes)
      : survey_(survey),
        file_(file),
        rank_(rank),
        known_(known),
        layout_(layout),
        processes_(processes),
        was_merged_(rank.is_merged() || survey.evidence.was_merged_by_us()) {}

  // Returns the place of each track.
  std::vector<Place> run() {
    if (!rank_.is_merged()) processes_[{rank_.rank, false, {}}];
    gather_notes();
    std::vector<Place> places;
    for (const TrackFacts& facts : survey_.tracks) places.push_back(add(facts));
    return places;
  }

 private:
  // The note of an earlier merge about a row: its rank, whether it comes from another process, the
  // pid of that process, its tid.
  using Note = std::tuple<std::int64_t, bool, std::string, std::string>;

  std::int64_t rank_of(const TrackFacts& facts) const {
    return rank_.rank_of(canonical_id(facts.pid), canonical_id(facts.tid));
  }

  Note note_of(const TrackFacts& facts) const {
    const std::string tid = facts.source ? facts.source->tid : canonical_id(facts.tid);
    const auto found = survey_.processes.find(canonical_id(facts.pid));
    const BesideMain* process = nullptr;
    if (facts.is_of_other_process())
      process = &*facts.source->process;
    else if (found != survey_.processes.end() && found->second.beside_main)
      process = &*found->second.beside_main;
    return {rank_of(facts), process != nullptr, process != nullptr ? process->source_pid : "", tid};
  }

  // Finds source notes that several rows share, and ignores them: the file was forced into one rank
  // by RANK=, or another tool copied the note. Merging those rows would mix threads.
  void gather_notes() {
    if (std::ranges::none_of(survey_.tracks,
                             [](const TrackFacts& facts) { return facts.source.has_value(); }))
      return;
    std::map<Note, std::vector<const TrackFacts*>> rows;
    for (const TrackFacts& facts : survey_.tracks) {
      if (facts.is_of_other_process()) other_titles_.insert(facts.source->process->title);
      if (facts.source || facts.has_row()) rows[note_of(facts)].push_back(&facts);
    }
    for (const auto& [note, alike] : rows)
      if (alike.size() > 1) ambiguous_.insert(alike.begin(), alike.end());
  }

  const RowSource* source_of(const TrackFacts& facts) const {
    return facts.source && !ambiguous_.contains(&facts) ? &*facts.source : nullptr;
  }
  // Returns the process that the row comes from, if it is in another one now.
  const BesideMain* other_process_of(const TrackFacts& facts) const {
    const RowSource* const source = source_of(facts);
    return source != nullptr && source->process ? &*source->process : nullptr;
  }

  Place add(const TrackFacts& facts) {
    const std::string pid = canonical_id(facts.pid);
    const std::int64_t rank = rank_of(facts);
    // Facts of a process belong to the rank of the process, not to threads of other ranks in it.
    const bool is_of_process = rank == rank_.rank_of(pid);
    const auto found = survey_.processes.find(pid);
    const ProcessFacts* const process_facts =
        found == survey_.processes.end() || !is_of_process ? nullptr : &found->second;
    const ThreadKey thread = thread_key(facts, pid, process_facts);
    const ProcessFacts* const told = is_of_process ? known_.facts_of(file_, pid) : nullptr;
    Place place{layout_ == PidLayout::split ? ProcessKey{rank, thread.is_foreign, thread.pid}
                                            : ProcessKey{rank, false, {}},
                thread,
                is_of_process,
                {}};
    if (thread.is_foreign && !place.process.is_foreign) place.title = process_title(pid, told);
    Process& process = processes_[place.process];
    name(process, place, facts, pid, told);
    process.has_counters |= facts.counters > 0;
    if (place.process.is_foreign && !process.sort_index)
      process.sort_index = process_index_of(facts, pid, process_facts);
    if (process_facts != nullptr && (facts.has_row() || facts.counters > 0))
      add_labels(process, facts, process_facts->labels);
    if (!facts.has_row()) return place;
    Thread& row = process.threads[thread];
    if (process_facts != nullptr && other_process_of(facts) == nullptr)
      row.is_gpu |= is_gpu_label(process_facts->labels);
    add_thread(row, place, facts, pid, told);
    if (!row.sort_index) row.sort_index = index_of(facts);
    if (thread.is_foreign && !row.process_sort_index)
      row.process_sort_index = process_index_of(facts, pid, process_facts);
    return place;
  }

  // Returns the place of a thread among those of its process. torch gives each thread its own
  // number as place, which means nothing and is ignored.
  std::optional<std::int64_t> index_of(const TrackFacts& facts) const {
    if (survey_.evidence.was_merged_by_us()) return facts.source_sort_index;
    return index_unless(canonical_id(facts.tid), facts.sort_index);
  }
  // Returns the same for the process of the thread.
  std::optional<std::int64_t> process_index_of(const TrackFacts& facts, const std::string& pid,
                                               const ProcessFacts* process) const {
    if (facts.process_sort_index) return facts.process_sort_index;
    if (process == nullptr || other_process_of(facts) != nullptr) return std::nullopt;
    if (survey_.evidence.was_merged_by_us()) return process->source_sort_index;
    return facts.gpu ? std::nullopt : index_unless(pid, process->sort_index);
  }
  static std::optional<std::int64_t> index_unless(const std::string& id,
                                                  std::optional<std::int64_t> index) {
    return index && id == std::to_string(*index) ? std::nullopt : index;
  }

  // Each pid of a merged file is the main process of its rank, unless the file says otherwise.
  // Events without a pid are a process of their own, as they are wherever begin and end are paired
  // by pid.
  ThreadKey thread_key(const TrackFacts& facts, const std::string& pid,
                       const ProcessFacts* process) const {
    const RowSource* const source = source_of(facts);
    if (const BesideMain* const other = other_process_of(facts))
      return {true, {other->source_pid}, {source->tid}};
    const std::string tid = source != nullptr ? source->tid : canonical_id(facts.tid);
    if (facts.gpu) return {true, {*facts.gpu}, {tid}};  // torch itself writes it so
    if (!rank_.is_merged())
      return known_.is_main(file_, pid) ? ThreadKey{false, {}, {tid}}
                                        : ThreadKey{true, {pid}, {tid}};
    if (process != nullptr && process->beside_main)
      return {true, {process->beside_main->source_pid}, {tid}};
    return {pid.empty(), {}, {tid}};
  }

  // Names a process other than the main one.
  std::string title_of(const TrackFacts& facts, const std::string& pid,
                       const ProcessFacts* process) const {
    if (const BesideMain* const other = other_process_of(facts)) return other->title;
    if (facts.gpu) return facts.gpu->empty() ? "GPU" : "GPU " + *facts.gpu;
    return process_title(pid, process);
  }

  void name(Process& process, const Place& place, const TrackFacts& track, const std::string& pid,
            const ProcessFacts* facts) const {
    if (!process.name.empty()) return;
    const std::int64_t rank = place.process.rank;
    if (place.process.is_foreign) {
      process.title = title_of(track, pid, facts);
      process.name = track.gpu || other_process_of(track) != nullptr
                         ? group_title(rank, process.title)
                         : process_title_of_rank(rank, pid, facts);
    } else if (!place.thread.is_foreign && facts != nullptr && !facts->name.empty()) {
      process.name = rank_title(rank, facts->name, pid);
    }
  }

  // Adds labels to a process. A merge by ranks puts the labels of all its processes on one. If they
  // are groups of their own again, each gets its own label back: the label of a GPU is its title.
  void add_labels(Process& process, const TrackFacts& facts, const std::string& text) const {
    const BesideMain* const other = other_process_of(facts);
    any_part(text, [&](std::string_view part) {
      // Catapult takes a blank after a comma for a part of the label; earlier merges wrote one.
      const std::string label(part.substr(std::min(part.find_first_not_of(' '), part.size())));
      const bool is_own = other != nullptr ? label == other->title : !other_titles_.contains(label);
      const bool is_known = std::ranges::find(process.labels, label) != process.labels.end();
      if (!label.empty() && (layout_ == PidLayout::rank || is_own) && !is_known)
        process.labels.push_back(label);
      return false;
    });
  }

  void add_thread(Thread& thread, const Place& place, const TrackFacts& facts,
                  const std::string& pid, const ProcessFacts* process) const {
    const BesideMain* const other = other_process_of(facts);
    thread.events += facts.events;
    thread.has_samples |= facts.has_samples;
    thread.is_gpu |= other != nullptr ? facts.source->is_gpu : facts.is_gpu;
    const std::string& own_pid = place.process.is_foreign ? place.process.pid.text : pid;
    thread.is_os_main |=
        place.thread.is_foreign == place.process.is_foreign && place.thread.tid.text == own_pid;
    if (thread.name.empty())
      thread.name = other != nullptr ? thread_of_row(other->title, facts.name) : facts.name;
    if (place.thread.is_foreign && !place.process.is_foreign && thread.process.empty())
      thread.process = title_of(facts, pid, process);
    if (was_merged_ && !thread.merged_sort_index) thread.merged_sort_index = facts.sort_index;
  }

  const FileSurvey& survey_;
  std::size_t file_;
  const FileRank& rank_;
  const RankProcesses& known_;
  PidLayout layout_;
  Processes& processes_;
  bool was_merged_;
  std::set<const TrackFacts*> ambiguous_;  // rows whose note another row has, too
  std::set<std::string> other_titles_;     // titles of processes that rows come from
};

}  // namespace

std::vector<std::vector<Place>> gather_tracks(const std::vector<FileSurvey>& surveys,
                                              const std::vector<FileRank>& ranks, PidLayout layout,
                                              Processes& processes) {
  const RankProcesses known(surveys, ranks);
  std::vector<std::vector<Place>> places;
  for (std::size_t file = 0; file < surveys.size(); ++file)
    places.push_back(
        FileTracksReader(surveys[file], file, ranks[file], known, layout, processes).run());
  return places;
}

}  // namespace traceloom
