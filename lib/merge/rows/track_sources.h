// The processes and threads of the inputs that belong together: the processes of each rank, and the
// threads gathered into them.
#pragma once

#include "base/ascii.h"
#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// gather_tracks(): gathers the threads that the files of a merge have into the processes of the
// output.
//
//   Processes processes;
//   const std::vector<std::vector<Place>> places =
//       gather_tracks(surveys, ranks, PidLayout::split, processes);
//   processes.at(places[0][0].process).threads.at(places[0][0].thread).name

// An id that sorts numbers by value and before text, and text as text.
struct NaturalId {
  std::string text;
  std::strong_ordering operator<=>(const NaturalId& other) const { return key() <=> other.key(); }
  bool operator==(const NaturalId& other) const { return key() == other.key(); }

 private:
  std::tuple<int, std::int64_t, std::string_view> key() const {
    if (const auto number = whole_number<std::int64_t>(text)) return {0, *number, {}};
    return {1, 0, text};
  }
};

// A thread of a rank. The main processes of all files of a rank are one process, whatever pids they
// have there (Composer writes the rank, torch the pid of the operating system).
struct ThreadKey {
  bool is_foreign = false;  // in another process than the main one: a GPU, "Spans", a worker
  NaturalId pid;            // empty for the main process
  NaturalId tid;
  auto operator<=>(const ThreadKey&) const = default;
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
  auto operator<=>(const ProcessKey&) const = default;
};

struct Process {
  using Row = std::map<ThreadKey, Thread>::value_type;
  std::map<ThreadKey, Thread> threads;
  std::string name;
  std::string title;  // for a process other than the main one
  std::vector<std::string> labels;
  std::optional<std::int64_t> sort_index;  // likewise, if a file has it
  bool has_counters = false;
  // These are given by TrackPlan, for the output.
  std::int64_t pid = 0;
  std::uint32_t place = 0;     // among the processes
  std::uint32_t main_tid = 1;  // for what has no thread of its own

  bool is_empty() const { return threads.empty() && !has_counters; }
  bool is_gpu() const {
    return std::ranges::any_of(threads, [](const auto& thread) { return thread.second.is_gpu; });
  }
};

using Processes = std::map<ProcessKey, Process>;

// The process and thread that a (pid, tid) of a file goes to.
struct Place {
  ProcessKey process;
  ThreadKey thread;
  bool is_of_process = false;  // facts of the pid itself belong to the same rank
  std::string title;  // what tells the process from others that are joined with it, if it does not
                      // stay alone
};

// Adds the tracks of all files to the processes; returns where each track of each file goes. One
// without events has no thread there, and its process may be left empty.
std::vector<std::vector<Place>> gather_tracks(const std::vector<FileSurvey>& surveys,
                                              const std::vector<FileRank>& ranks, PidLayout layout,
                                              Processes& processes);

}  // namespace traceloom
