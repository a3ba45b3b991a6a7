// merge_to_archive: merge_traces() for MergeFormat::perfetto_tar: a trace a rank, after all inputs
// have been surveyed.
#pragma once

#include "merge/options/merge_options.h"
#include "merge/options/merge_summary.h"

namespace traceloom {

MergeSummary merge_to_archive(const MergeOptions& options);

}  // namespace traceloom
