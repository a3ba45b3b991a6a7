// The names that viewers show for processes and threads of a merged trace, and the order in
// which they show them.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/rows/track_sources.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

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
