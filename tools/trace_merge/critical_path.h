// The longest way through the steps of a job as a row of the merged trace.
#pragma once

#include "merge/merger.h"

namespace traceloom {

// Reads the inputs of the merge, and adds the row to MergeOptions::added. Throws UsageError if the
// way cannot be known.
void add_critical_path(MergeOptions& options);

}  // namespace traceloom
