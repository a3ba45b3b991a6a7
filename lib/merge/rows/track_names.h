// What the rows of a merged trace are called.
//
//   rank_title(3, "python3", "1166")                          "rank 3 · python3 (pid 1166)"
//   row_title(process_title("0", &facts), thread_title("7", "", true))   "GPU 0 · stream 7"
//
// Pids and tids are canonical_id()s.
#pragma once

#include "merge/facts/file_survey.h"

#include <cstdint>
#include <string>

namespace traceloom {

// Of one process, not of several that have become one ("GPU 0, CPU").
bool is_gpu_label(const std::string& labels);
// What torch calls the threads of the backward pass: "thread 1201 (pt_autograd_0)".
bool is_backward_name(const std::string& thread);

// The main process of a rank; `process` is the name that its file gives it, or nothing.
std::string rank_title(std::int64_t rank, const std::string& process, const std::string& pid);

// A process beside the main one, within its rank; `facts` is nullptr when the file says nothing of
// it. Empty for the process whose pid is the empty string.
std::string process_title(const std::string& pid, const ProcessFacts* facts);

// The same as a group of rows of its own.
std::string process_title_of_rank(std::int64_t rank, const std::string& pid,
                                  const ProcessFacts* facts);

// The same by its process_title().
std::string group_title(std::int64_t rank, const std::string& process);

// A thread within its process; `name` is the name that its file gives it, or nothing.
std::string thread_title(const std::string& tid, std::string name, bool is_gpu);

// A thread of a process that is no group of its own.
std::string row_title(const std::string& process, const std::string& thread);
// The thread of such a title.
std::string thread_of_row(const std::string& process, const std::string& row);

}  // namespace traceloom
