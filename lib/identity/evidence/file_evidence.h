// FileEvidence: what a file says about its rank and its clock, and what tells it from other files,
// gathered event by event.
//
//   FileEvidence evidence;
//   for (each event) evidence.add(event);        // looks at metadata (M) and clock syncs (c)
//   for (each event that begins) evidence.add_begin(event, timing);
//   evidence.add_top_level(parser);
//   evidence.append(evidence_of_the_next_chunk);
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "identity/evidence/collective_marks.h"
#include "identity/evidence/distinct_marks.h"
#include "identity/evidence/event_tally.h"
#include "identity/evidence/merged_cycles.h"
#include "identity/evidence/merged_inputs.h"
#include "identity/evidence/noted_filter.h"
#include "identity/evidence/recorder_clock.h"
#include "identity/evidence/sync_marks.h"
#include "scan/top_level.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct FileEvidence {
  DistinctMarks rank_marks;  // `global_rank` events, as Composer writes one per cycle and rank, on
                             // the main thread of the rank
  DistinctMarks syncs;       // `clock_sync_timestamp_us` events, of the same thread
  DistinctMarks error_bounds;                    // `clock_sync_error_bound` events, in microseconds
  SyncMarks sync_marks;                          // clock syncs that events name (c)
  RecorderClock recorder;                        // what our recorder writes beside these
  std::optional<std::int64_t> distributed_rank;  // distributedInfo.rank
  std::optional<std::int64_t> world_size;        // distributedInfo.world_size
  std::int64_t merged_world_size = 0;            // the largest that a merge kept of its ranks
  std::optional<std::int64_t> top_level_rank;    // global_rank beside traceEvents
  std::optional<std::int64_t> top_level_sync_us;  // clock_sync_timestamp_us beside traceEvents
  // Unix ns of ts 0: baseTimeNanoseconds (Kineto's, else VizTracer's), else beginningOfTime
  // (clang).
  std::optional<std::int64_t> base_ns;
  // Our recorder says that it is of a process beside the rank's own: a watcher, or a worker.
  bool is_beside_rank = false;
  bool is_torch = false;              // has top-level keys that only torch.profiler (Kineto) writes
  CollectiveMarks collectives;        // when its rank took part in some
  EventTally tally;                   // of all events with a usable time but E
  std::vector<MergedCycle> cycles;    // of a merge of ours
  std::vector<MergedInput> inputs;    // the same
  std::optional<NotedFilter> filter;  // the same: what it kept of them
  std::string merged_by;              // otherData.traceloom.version: a merge of ours wrote the file
  // bad_sync: a sync or its error bound is no whole number; bad_base; bad_cycles; bad_rounds;
  // events_lost and the like: what our recorder says that the file lacks
  ProblemCounts problems;

  // Metadata and clock syncs; any other event costs one compare or two.
  void add(const Event& event);
  // Any event with a usable time but E.
  void add_begin(const Event& event, const EventTiming& timing) {
    tally.add(event, timing);
    collectives.add(event, timing);
  }
  // What stands around the events; once, when the file has been read to its end.
  void add_top_level(const TopLevelParser& top_level);
  // What a later part of the same file says.
  void append(const FileEvidence& later);

  // The clock sync that counts: of the first event, else the top-level key. Of a merged file that
  // of its lowest rank that has one: all of it is on that clock (after Composer's merger, and
  // ours).
  std::optional<std::int64_t> sync_us() const;
  // More than one rank in the file: its pids are ranks.
  bool has_several_ranks() const;
  // By a merge of ours.
  bool was_merged_by_us() const { return !merged_by.empty(); }
  // By any: its events are on one clock, its tracks and ids sorted out.
  bool was_merged() const { return has_several_ranks() || was_merged_by_us(); }
};

}  // namespace traceloom
