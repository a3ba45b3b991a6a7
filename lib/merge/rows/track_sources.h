// The processes and threads of the inputs that belong together: the processes of each rank, and the
// threads gathered into them.
#pragma once

#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// RankProcesses: which process of a file is the main one of its rank, and what the files of the
// rank say of the other processes.
//
//   RankProcesses known(surveys, ranks);
//   known.is_main(file, "1166")             // the one that ran the training loop
//   known.facts_of(file, "1201")->name      // a worker, whichever file names it
//
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

// A file of several ranks takes no part in this; only its own facts count for it.
class RankProcesses {
 public:
  // `surveys` and `ranks` must outlive this object.
  RankProcesses(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks);

  bool is_main(std::size_t file, const std::string& pid) const { return main_[file] == pid; }
  // For the file's main process, returns what the file itself says. For another process, returns
  // what the first file of the rank that mentions it says, or nullptr if none does.
  const ProcessFacts* facts_of(std::size_t file, const std::string& pid) const;

 private:
  void find_main(std::int64_t rank, const std::vector<std::size_t>& files);

  const std::vector<FileSurvey>& surveys_;
  const std::vector<FileRank>& ranks_;
  std::vector<std::optional<std::string>> main_;  // one a file
  // Keys: rank, pid.
  std::map<std::int64_t, std::map<std::string, const ProcessFacts*>> beside_main_;
};

// gather_tracks(): gathers the threads that the files of a merge have into the processes of the
// output.
//
//   Processes processes;
//   const RankProcesses known(surveys, ranks);
//   std::vector<Place> places =
//       gather_tracks(surveys[i], i, ranks[i], known, PidLayout::split, processes);
//   processes.at(places[0].process).threads.at(places[0].thread).name

// An id that sorts numbers by value and before text, and text as text.
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

// A thread of a rank. The main processes of all files of a rank are one process, whatever pids they
// have there (Composer writes the rank, torch the pid of the operating system).
struct ThreadKey {
  bool is_foreign = false;  // in another process than the main one: a GPU, "Spans", a worker
  NaturalId pid;            // empty for the main process
  NaturalId tid;
  friend bool operator<(const ThreadKey& a, const ThreadKey& b) {
    return std::tie(a.is_foreign, a.pid, a.tid) < std::tie(b.is_foreign, b.pid, b.tid);
  }
};

struct Thread {
  std::uint64_t events = 0;
  bool is_gpu = false;
  bool has_samples = false;  // it has top-level samples
  bool is_os_main = false;   // its tid is the pid of its process
  std::string name;
  std::string process;  // the title of its process, if that is no group of its own
  std::optional<std::int64_t> merged_sort_index;  // set in a file that was merged before
  // From the first file that has one: its place among the threads of its process, and the place of
  // that process if it is no group of its own.
  std::optional<std::int64_t> sort_index;
  std::optional<std::int64_t> process_sort_index;
  std::uint32_t tid = 0;  // in the output; TrackPlan gives it
};

// A process of the output: the main one of a rank, or another one.
struct ProcessKey {
  std::int64_t rank = 0;
  bool is_foreign = false;
  NaturalId pid;  // empty for the main process
  friend bool operator<(const ProcessKey& a, const ProcessKey& b) {
    return std::tie(a.rank, a.is_foreign, a.pid) < std::tie(b.rank, b.is_foreign, b.pid);
  }
};

struct Process {
  using Row = std::map<ThreadKey, Thread>::value_type;
  std::map<ThreadKey, Thread> threads;
  std::string name;
  std::string title;  // for a process other than the main one
  std::vector<std::string> labels;
  std::optional<std::int64_t> sort_index;  // likewise, if a file has it
  bool has_counters = false;
  // Both are given by TrackPlan, for the output.
  std::int64_t pid = 0;
  std::uint32_t main_tid = 1;  // for what has no thread of its own

  bool is_empty() const { return threads.empty() && !has_counters; }
  bool is_gpu() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& thread) { return thread.second.is_gpu; });
  }
};

using Processes = std::map<ProcessKey, Process>;

// The process and thread that a (pid, tid) of a file goes to.
struct Place {
  ProcessKey process;
  ThreadKey thread;
};

// Adds the tracks of a file to the processes; returns where each of them goes. A track without
// events has no thread there, and its process may be left empty.
std::vector<Place> gather_tracks(const FileSurvey& survey, std::size_t file, const FileRank& rank,
                                 const RankProcesses& known, PidLayout layout,
                                 Processes& processes);

}  // namespace traceloom
