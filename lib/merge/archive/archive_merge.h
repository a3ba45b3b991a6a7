// merge_to_archive(): merge_traces() for MergeFormat::perfetto_tar. It surveys all inputs first and
// then writes one trace a rank.
#pragma once

#include "merge/options/merge_options.h"
#include "merge/options/merge_summary.h"

namespace traceloom {

MergeSummary merge_to_archive(const MergeOptions& options);

}  // namespace traceloom
