#include "merge/rows/rank_processes.h"

#include "merge/rows/track_names.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

enum class Trust { little, some, full };

// A process with events that are not of a GPU.
struct HostProcess {
  Trust trust = Trust::little;
  std::uint64_t events = 0;
  std::set<std::string> tids = {};

  friend bool operator<(const HostProcess& a, const HostProcess& b) {
    return std::tie(a.trust, a.events) < std::tie(b.trust, b.events);
  }
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
  return std::max_element(processes.begin(), processes.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

// The main processes of a rank so far.
class MainProcesses {
 public:
  explicit MainProcesses(std::int64_t rank) : rank_(std::to_string(rank)) {}

  void add(const HostProcesses::value_type& process) {
    for (const std::string& tid : process.second.tids) pids_[tid].insert(process.first);
  }

  // Returns whether a process with another pid has a thread with one of these tids. A pid that is
  // the rank clashes with none: it is no pid of an operating system.
  bool clash(const HostProcesses::value_type& process) const {
    const auto is_other = [&](const std::string& pid) {
      return pid != process.first && pid != rank_;
    };
    return process.first != rank_ &&
           std::any_of(process.second.tids.begin(), process.second.tids.end(),
                       [&](const std::string& tid) {
                         const auto found = pids_.find(tid);
                         return found != pids_.end() &&
                                std::any_of(found->second.begin(), found->second.end(), is_other);
                       });
  }

 private:
  std::string rank_;
  std::map<std::string, std::set<std::string>> pids_;  // key: tid
};

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

}  // namespace

RankProcesses::RankProcesses(const std::vector<FileSurvey>& surveys,
                             const std::vector<FileRank>& ranks)
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

void RankProcesses::find_main(std::int64_t rank, const std::vector<std::size_t>& files) {
  std::vector<HostProcesses> processes;
  processes.reserve(files.size());
  for (const std::size_t file : files) processes.push_back(host_processes(surveys_[file]));
  const HostProcesses sums = sum_of(processes);
  MainProcesses known(rank);
  std::set<std::string> pids;    // pids of main processes
  std::set<std::string> others;  // pids next to a main process in some file
  const auto settle = [&](std::size_t i, const std::string& main) {
    main_[files[i]] = main;
    pids.insert(main);
    known.add(*sums.find(main));
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
  for (std::size_t i = 0; i < files.size(); ++i) settle_by_known(i);
  for (std::size_t i = 0; i < files.size(); ++i) {
    settle_by_known(i);
    const auto best = find_best(processes[i]);
    if (!main_[files[i]] && best != processes[i].end() && !others.contains(best->first) &&
        !known.clash(*sums.find(best->first)))
      settle(i, best->first);
  }
}

const ProcessFacts* RankProcesses::facts_of(std::size_t file, const std::string& pid) const {
  if (ranks_[file].is_merged() || is_main(file, pid)) {
    const auto own = surveys_[file].processes.find(pid);
    return own == surveys_[file].processes.end() ? nullptr : &own->second;
  }
  const auto of_rank = beside_main_.find(ranks_[file].rank);
  if (of_rank == beside_main_.end()) return nullptr;
  const auto found = of_rank->second.find(pid);
  return found == of_rank->second.end() ? nullptr : found->second;
}

}  // namespace traceloom
