// FileEvidence: what a file says about its rank and its clock, gathered event by event.
//
//   FileEvidence evidence;
//   for (each event) evidence.add(event);        // looks at metadata (M) only
//   evidence.add_top_level(parser);
//   evidence.append(evidence_of_the_next_chunk);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problems.h"
#include "event/event.h"
#include "scan/top_level.h"

namespace traceloom {

// A `global_rank` metadata event, as Composer writes one per cycle and rank.
struct RankMark {
  std::int64_t rank = 0;
  std::string pid;  // canonical_id() of the event's pid
  std::uint64_t offset = 0;
};

// A `clock_sync_timestamp_us` or `clock_sync_error_bound` metadata event.
struct ClockMark {
  std::int64_t value_us = 0;
  std::string pid;
  std::uint64_t offset = 0;
};

struct FileEvidence {
  std::vector<RankMark> rank_marks;        // one for each different (rank, pid), in file order
  std::vector<ClockMark> syncs;            // one for each different (value, pid), in file order
  std::vector<ClockMark> error_bounds;
  std::optional<std::int64_t> distributed_rank;  // distributedInfo.rank
  std::optional<std::int64_t> world_size;        // distributedInfo.world_size
  std::optional<std::int64_t> top_level_rank;    // global_rank beside traceEvents
  std::optional<std::int64_t> top_level_sync_us; // clock_sync_timestamp_us beside traceEvents
  std::optional<std::int64_t> base_ns;           // Unix ns of ts 0: baseTimeNanoseconds (also VizTracer's), beginningOfTime
  std::string merged_by;                   // otherData.traceloom is there: the version that wrote it
  ProblemCounts problems;                  // bad_sync, ...

  // Metadata events only; any other event costs one compare.
  void add(const Event& event);
  void add_top_level(const TopLevelParser& top_level);
  // What a later part of the same file says.
  void append(const FileEvidence& later);

  // More than one rank in the file: it has been merged already, its pids are ranks.
  bool is_merged() const;
};

// "ep1-ba42-rank3.json", "rank-0.Apr_03.pt.trace.json", "rank_2.trace.json": the number behind the last "rank"
// in the file's own name; nullopt when there is none.
std::optional<std::int64_t> rank_in_name(const std::string& path);

}  // namespace traceloom
