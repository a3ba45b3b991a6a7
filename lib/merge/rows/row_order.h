// In which order the rows of a process are shown, and the processes of a rank.
//
//   for (const Process::Row* row : rows_in_order(process, main_thread)) show(row->second.name);
//
// The rule: the main thread, that of the backward pass, other threads of its process, GPU rows, the
// rest; by pid and tid within these. What the files say (thread_sort_index, process_sort_index)
// comes before that: the threads of a process that have an index share their places among them in
// its order, and so do processes. What has no index stays where the rule has it. A process whose
// rows all come from one file that was merged before keeps its order.
#pragma once

#include "merge/rows/track_sources.h"

#include <vector>

namespace traceloom {

// `main` is a key of `process`, or nullptr.
std::vector<const Process::Row*> rows_in_order(const Process& process, const ThreadKey* main);

// By rank; of a rank its main process, its GPUs, the rest.
std::vector<Processes::value_type*> in_order(Processes& processes);

}  // namespace traceloom
