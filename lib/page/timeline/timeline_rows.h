// The rows of the timeline: the spans of a rank, and the work of its devices.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// find_rank_rows: the spans of a rank, put on the rows of the timeline.

struct TimelineSlice {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t label;  // number in Labels
  std::uint8_t depth;   // in other slices of its row
  Role role;
};

// Deeper slices are not shown: a row of the host is four lines high.
inline constexpr std::uint8_t kMostDepth = 4;

struct RankRow {
  std::string label;
  bool is_host = false;
  std::vector<TimelineSlice> slices;  // by begin, an outer one before those in it
};

// Rows without slices are left out. The rows of devices come first: computation, then
// communication. Each has one row ("rank 0 devices", "rank 0 comm") unless streams run at the same
// time, so that no stream is painted over another one: then a stream that overlaps another one has
// a row of its own, named after it, and streams that never do share one. There are at most four of
// each; the last one has all other streams, and those after the 64 busiest. Then come those of the
// host: the thread with the step marks, or with the most spans, and the busiest other one if it has
// at least a fifth of that one's spans. Functions of Python are left out of a thread that has other
// spans: their outer ones cover everything, and the flame graph has them.
std::vector<RankRow> find_rank_rows(const Run& run, const RankEvents& rank);

}  // namespace traceloom
