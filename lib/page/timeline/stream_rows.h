// find_stream_rows: the work of a rank's devices on rows of the timeline, so that no stream is
// painted over another one.
//
//   for (RankRow& row : find_stream_rows(run, rank)) use(row.label, row.slices);
//
// Computation comes first, then communication. Each has one row ("rank 0 devices", "rank 0 comm")
// unless streams run at the same time: then a stream that overlaps another one has a row of its
// own, named after it, and streams that never do share one. There are at most kMostStreamRows of
// each; the last one has all other streams.
#pragma once

#include "page/timeline/rank_rows.h"

#include <cstddef>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kMostStreamRows = 4;

std::vector<RankRow> find_stream_rows(const Run& run, const RankEvents& rank);

}  // namespace traceloom
