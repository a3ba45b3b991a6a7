// Rows of the merged trace that no trace has: what a replay finds, and what allocator snapshots
// beside the traces say.
#pragma once

#include "input/input_list.h"
#include "merge/merger.h"

#include <vector>

namespace traceloom {

// Reads the inputs of the merge, and adds the longest way through their steps, across all ranks.
// Throws UsageError if it cannot be known.
void add_critical_path(MergeOptions& options);

// Adds what the devices of each rank had allocated and reserved, as counters. What is no snapshot,
// or cannot be read, is told on stderr.
void add_memory(const std::vector<OtherFile>& files, MergeOptions& options);

}  // namespace traceloom
