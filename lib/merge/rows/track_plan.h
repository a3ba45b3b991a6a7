// TrackPlan: where every (pid, tid) of the inputs goes in the merged trace, and how it is named
// there.
//
//   TrackPlan plan(surveys, ranks);
//   const TrackTarget* target = plan.target(file, "1166", "7", scratch);   // {"3", "10000004"}
//
// The output has one process (pid) a rank, or with PidLayout::split one for each process that the
// rank's files have. Threads of the rank's main process, and of every process that stays one, keep
// their tids if viewers can show them. Everything else (threads of folded processes, tids that are
// text, 0, negative or above 2^32) gets a number from 10 000 000 on, above any tid of Linux. No two
// source threads share a row. The same thread keeps its place over all files of a rank, also in
// files to which a merge of ours has given such numbers (RowSource).
#pragma once

#include "base/ascii.h"
#include "base/string_table.h"
#include "event/event.h"
#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/rows/input_tracks.h"
#include "merge/rows/track_sources.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The place of an event, with the pid and tid that are written into it.
struct TrackTarget {
  std::string pid;
  std::string tid;
  std::int64_t rank = 0;
  std::uint32_t number = 0;   // one for each pid and tid
  std::uint32_t process = 0;  // its place in TrackPlan::processes()
  bool has_begins = false;    // some event of its thread in the file is a begin (B)
  bool is_same_place(const TrackTarget& other) const {
    return pid == other.pid && tid == other.tid && rank == other.rank && number == other.number;
  }
  bool operator==(const TrackTarget&) const = default;
};

// The place of a process of an input.
struct ProcessTarget {
  std::string pid;    // in the output
  std::string title;  // "GPU 0"; empty for the main process of a rank
};

// A row of the merged trace.
struct OutputTrack {
  std::uint32_t tid = 0;
  std::string name;
  std::optional<RowSource> source;  // set if the tid is not that of the input
  // The sort indexes that an input gives to the row, and to the other process that the row comes
  // from.
  std::optional<std::int64_t> sort_index = {};
  std::optional<std::int64_t> process_sort_index = {};
};

// A process of the merged trace.
struct OutputProcess {
  std::int64_t rank = 0;
  std::int64_t pid = 0;
  std::string name;                 // "rank 3 · python3 (pid 1166)"
  std::string labels;               // all labels in the files, without repetition
  std::vector<OutputTrack> tracks;  // in the order in which they are shown (in_order())
  // For a process other than the rank's main one: its name within its rank ("GPU 0"), and its
  // canonical pid in the files. A later merge recognizes it by them.
  bool is_main = true;
  std::string title;
  std::string source_pid;
  std::optional<std::int64_t> sort_index = {};  // given by an input
};

class TrackPlan {
 public:
  TrackPlan(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks_of_files,
            PidLayout layout = PidLayout::rank);

  // Returns the target of an event of `file`, by the JSON text of its pid and tid (empty if
  // absent); nullptr if the survey saw no such track.
  const TrackTarget* target(std::size_t file, std::string_view pid, std::string_view tid,
                            std::string& scratch) const;
  // Returns the target of the process with that canonical pid; nullptr if the survey saw no such
  // track.
  const ProcessTarget* process(std::size_t file, const std::string& pid) const;
  // Returns the target for a track_key(). If the key has a GPU (GpuRowFinder finds it for an
  // event), it is the row of the GPU if there is one, else the row of the thread (arrows may end
  // there after all, and stray ends make no row).
  const TrackTarget* target(std::size_t file, std::string_view key) const;
  // Returns whether the file has GPU rows next to CPU threads of the same pid.
  bool has_gpu_tracks(std::size_t file) const { return files_[file].has_gpu_tracks; }
  // Returns true if this plan has every track of `other`, a plan of the same files, at the same
  // place.
  bool covers(const TrackPlan& other) const;
  // Returns true if this plan has begins on every track of that file on which `other` has some. It
  // must cover `other`.
  bool knows_begins(const TrackPlan& other, std::size_t file) const;
  // Ascending by rank; within a rank its main process, its GPUs, the rest. Every rank of an input
  // is there, also one without events.
  const std::vector<OutputProcess>& processes() const { return processes_; }
  // Ascending.
  const std::vector<std::int64_t>& ranks() const { return ranks_; }
  // Returns the ranks that a file belongs to, ascending: a merged file has several.
  const std::vector<std::int64_t>& ranks_of(std::size_t file) const { return files_[file].ranks; }

 private:
  struct FileTracks {
    StringTable keys;  // track_key()s
    std::vector<TrackTarget> targets;
    std::map<std::string, ProcessTarget> processes;  // key: canonical pid
    std::vector<std::int64_t> ranks;
    bool has_gpu_tracks = false;
  };
  void add_track(std::size_t file, const TrackFacts& facts, TrackTarget target);
  // Returns nullptr if there is no track with exactly that key.
  const TrackTarget* planned(std::size_t file, std::string_view key) const;

  std::vector<FileTracks> files_;
  std::vector<OutputProcess> processes_;
  std::vector<std::int64_t> ranks_;
};

// TrackCache: finds the track of an event, with one look-up for neighbours of the same track.
//
//   TrackCache tracks;
//   const TrackTarget* target = tracks.find(plan.tracks, file, event);    // nullptr: not planned
//
// One thread at a time may use it.

class TrackCache {
 public:
  // Must be called for the events of a chunk in their order: see GpuRowFinder.
  const TrackTarget* find(const TrackPlan& plan, std::size_t file, const Event& event) {
    std::optional<std::string_view> gpu;
    if (plan.has_gpu_tracks(file)) gpu = gpu_rows_.find(event);
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    // Two tracks are kept, because launches and what they launched take turns.
    Found& found = gpu ? on_gpu_ : on_thread_;
    if (found.track == nullptr || found.file != file || !same_text(tid, found.tid) ||
        !same_text(pid, found.pid) || (gpu && *gpu != found.gpu)) {
      track_key(pid, tid, scratch_);
      found.track = plan.target(file, gpu ? add_gpu(scratch_, *gpu) : scratch_);
      found.file = file;
      found.pid = pid;
      found.tid = tid;
      found.gpu = gpu.value_or("");
    }
    return found.track;
  }
  // Prepares for the next chunk.
  void reset() { gpu_rows_.reset(); }

 private:
  struct Found {
    const TrackTarget* track = nullptr;
    std::size_t file = 0;
    std::string pid;
    std::string tid;
    std::string gpu;
  };
  GpuRowFinder gpu_rows_;
  Found on_thread_;
  Found on_gpu_;
  std::string scratch_;
};

// The names that viewers show for processes and threads of a merged trace, and the order in
// which they show them.

// rank_title(), process_title(), thread_title(), row_title(): names for the rows of a merged trace.
//
//   rank_title(3, "python3", "1166")                          "rank 3 · python3 (pid 1166)"
//   row_title(process_title("0", &facts), thread_title("7", "", true))   "GPU 0 · stream 7"
//
// Pids and tids are canonical_id()s.

// True for the label of a single GPU, false for those of processes that have become one ("GPU 0,
// CPU").
bool is_gpu_label(const std::string& labels);
// True for torch's names of threads of the backward pass: "thread 1201 (pt_autograd_0)".
bool is_backward_name(const std::string& thread);

// Names the main process of a rank; `process` is the name that its file gives it, or nothing.
std::string rank_title(std::int64_t rank, const std::string& process, const std::string& pid);

// Names a process other than the main one, within its rank; `facts` is nullptr if the file says
// nothing of it. Returns an empty text for the process whose pid is the empty string.
std::string process_title(const std::string& pid, const ProcessFacts* facts);

// Names such a process if it is a group of rows of its own.
std::string process_title_of_rank(std::int64_t rank, const std::string& pid,
                                  const ProcessFacts* facts);

// Does the same, given its process_title().
std::string group_title(std::int64_t rank, const std::string& process);

// Names a thread within its process; `name` is the name that its file gives it, or nothing.
std::string thread_title(const std::string& tid, std::string name, bool is_gpu);

// Names a thread of a process that is no group of its own.
std::string row_title(const std::string& process, const std::string& thread);
// Returns the thread's part of such a title.
std::string thread_of_row(const std::string& process, const std::string& row);

// rows_in_order(), in_order(): the order in which the rows of a process and the processes of a rank
// are shown.
//
//   for (const Process::Row* row : rows_in_order(process, main_thread)) show(row->second.name);
//
// The rule: the main thread, the thread of the backward pass, other threads of its process, GPU
// rows, then all other rows; within these groups by pid and tid. What the files say
// (thread_sort_index, process_sort_index) comes before that: the threads of a process that have an
// index are sorted by it among the places that they have, and so are processes. A row without an
// index stays where the rule puts it. A process whose rows all come from one file that was merged
// before keeps its order.

// `main` is a key of `process`, or nullptr.
std::vector<const Process::Row*> rows_in_order(const Process& process, const ThreadKey* main);

// Returns the processes by rank, and for each rank its main process, its GPUs, and the rest.
std::vector<Processes::value_type*> in_order(Processes& processes);

}  // namespace traceloom
