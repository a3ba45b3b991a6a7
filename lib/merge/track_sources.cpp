#include "merge/track_sources.h"

#include "merge/track_names.h"

namespace traceloom {
namespace {

// Of a process beside the main one.
std::string title_of(const TrackFacts& facts, const std::string& pid, const ProcessFacts* process) {
  if (facts.is_of_other_process()) return facts.source->process->title;
  if (facts.gpu) return facts.gpu->empty() ? "GPU" : "GPU " + *facts.gpu;
  return process_title(pid, process);
}

std::string name_of_thread(const TrackFacts& facts) {
  return facts.is_of_other_process() ? thread_of_row(facts.source->process->title, facts.name)
                                     : facts.name;
}

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
    const std::int64_t rank = rank_.rank_of(pid, canonical_id(facts.tid));
    // What is said of a process is said of the rank that it has, not of other ranks' threads in it.
    const bool is_of_process = rank == rank_.rank_of(pid);
    const auto found = survey_.processes.find(pid);
    const ProcessFacts* const process_facts =
        found == survey_.processes.end() || !is_of_process ? nullptr : &found->second;
    const ThreadKey thread = thread_key(facts, pid, process_facts);
    const ProcessFacts* const told = is_of_process ? known_.facts_of(file_, pid) : nullptr;
    Place place{layout_ == PidLayout::split ? ProcessKey{rank, thread.is_foreign, thread.pid}
                                            : ProcessKey{rank, false, {}},
                thread};
    Process& process = processes_[place.process];
    name(process, place, facts, pid, told);
    process.has_counters |= facts.counters > 0;
    const bool is_labelled = !facts.is_of_other_process() || !place.process.is_foreign;
    if (is_labelled && process_facts != nullptr && !process_facts->labels.empty() &&
        (facts.events > 0 || facts.counters > 0) &&
        std::find(process.labels.begin(), process.labels.end(), process_facts->labels) ==
            process.labels.end())
      process.labels.push_back(process_facts->labels);
    if (facts.events == 0) return place;
    Thread& row = process.threads[thread];
    if (process_facts != nullptr) row.is_gpu |= is_gpu_label(process_facts->labels);
    add_thread(row, place, facts, pid, told);
    return place;
  }

  // Each pid of a merged file is the main process of its rank, unless it says otherwise. Events
  // without a pid are a process of their own, as they are to whoever pairs begin and end by pid.
  ThreadKey thread_key(const TrackFacts& facts, const std::string& pid,
                       const ProcessFacts* process) const {
    if (facts.is_of_other_process())
      return {true, {facts.source->process->source_pid}, {facts.source->tid}};
    const std::string tid = facts.source ? facts.source->tid : canonical_id(facts.tid);
    if (facts.gpu) return {true, {*facts.gpu}, {tid}};  // as if torch had written it
    if (!rank_.is_merged())
      return known_.is_main(file_, pid) ? ThreadKey{false, {}, {tid}}
                                        : ThreadKey{true, {pid}, {tid}};
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
      const bool is_row = track.gpu || track.is_of_other_process();
      process.name =
          is_row ? group_title(rank, process.title) : process_title_of_rank(rank, pid, facts);
      if (is_row && is_gpu_label(process.title)) process.labels.push_back(process.title);
    } else if (!place.thread.is_foreign && facts != nullptr) {
      process.name = rank_title(rank, facts->name, pid);
    }
  }

  void add_thread(Thread& thread, const Place& place, const TrackFacts& facts,
                  const std::string& pid, const ProcessFacts* process) const {
    thread.events += facts.events;
    thread.is_gpu |= facts.is_gpu;
    if (facts.is_of_other_process()) thread.is_gpu |= is_gpu_label(facts.source->process->title);
    const std::string& own_pid = place.process.is_foreign ? place.process.pid.text : pid;
    thread.is_os_main |=
        place.thread.is_foreign == place.process.is_foreign && place.thread.tid.text == own_pid;
    if (thread.name.empty()) thread.name = name_of_thread(facts);
    if (place.thread.is_foreign && !place.process.is_foreign)
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
};

}  // namespace

std::vector<Place> gather_tracks(const FileSurvey& survey, std::size_t file, const FileRank& rank,
                                 const RankProcesses& known, PidLayout layout,
                                 Processes& processes) {
  return FileTracksReader(survey, file, rank, known, layout, processes).run();
}

}  // namespace traceloom
