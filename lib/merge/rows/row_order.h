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
#pragma once

#include "merge/rows/track_sources.h"

#include <vector>

namespace traceloom {

// `main` is a key of `process`, or nullptr.
std::vector<const Process::Row*> rows_in_order(const Process& process, const ThreadKey* main);

// Returns the processes by rank, and for each rank its main process, its GPUs, and the rest.
std::vector<Processes::value_type*> in_order(Processes& processes);

}  // namespace traceloom
