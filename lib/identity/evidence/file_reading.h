// FileReading: the facts that every visitor gathers about a file, besides what it reads it for: the
// evidence in it about its rank, its clock and its identity, and when its events begin and end.
//
//   void visit(ChunkResult& result, std::size_t, const Event& event) override {
//     part_of(result).add(event, time_event(event, result.problems));
//   }
//   void take(ChunkResult& result, std::size_t file) override {
//     readings_[file].append(part_of(result));
//   }
//   void end_file(std::size_t file, const FileEnd& end) override { readings_[file].end(end); }
#pragma once

#include "base/arithmetic.h"
#include "base/problems.h"
#include "event/event.h"
#include "identity/evidence/event_marks.h"
#include "identity/evidence/event_tally.h"
#include "identity/evidence/merge_notes.h"
#include "identity/evidence/noted_group.h"
#include "identity/evidence/recorder_evidence.h"
#include "input/input_list.h"
#include "scan/scan_files.h"
#include "scan/top_level.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

// The evidence of a file about its rank, its clock and its identity, gathered event by event.
struct FileEvidence {
  DistinctMarks rank_marks;  // `global_rank` events; Composer writes one per cycle and rank, on the
                             // main thread of the rank
  DistinctMarks syncs;       // `clock_sync_timestamp_us` events, on the same thread
  DistinctMarks error_bounds;                    // `clock_sync_error_bound` events, in microseconds
  OperationRows operation_rows;                  // rows of a coarse time line
  SyncMarks sync_marks;                          // clock syncs in events (c)
  RecorderClock recorder;                        // clock evidence that our recorder writes
  std::optional<std::int64_t> distributed_rank;  // distributedInfo.rank
  std::optional<std::int64_t> world_size;        // distributedInfo.world_size
  std::set<std::string> devices;                 // names of the devices: deviceProperties[].name
  std::int64_t merged_world_size = 0;            // the largest that a merge kept of its ranks
  std::set<NotedGroup> groups;                   // of its rank, or of all ranks of a merge
  // The machine of each rank in a merge: host_name. The key is -1 where it is that of all ranks.
  std::map<std::int64_t, std::string> hosts;
  std::optional<std::int64_t> top_level_rank;     // global_rank next to traceEvents
  std::optional<std::int64_t> top_level_sync_us;  // clock_sync_timestamp_us next to traceEvents
  // Unix nanoseconds of ts 0: baseTimeNanoseconds (Kineto's, otherwise VizTracer's), otherwise
  // beginningOfTime (clang).
  std::optional<std::int64_t> base_ns;
  // True if our recorder says that the file belongs to another process than the rank's own: a
  // watcher or a worker.
  bool is_beside_rank = false;
  bool is_torch = false;              // the file has top-level keys that only Kineto writes
  CollectiveMarks collectives;        // the rank's times in collectives
  EventTally tally;                   // tally of all events with a usable time, except E
  ThreadTallies threads;              // the same by thread
  StreamOrder streams;                // empty once the file has been read
  std::vector<MergedCycle> cycles;    // cycles in a merge of ours
  std::vector<MergedInput> inputs;    // inputs noted in a merge of ours
  std::optional<NotedFilter> filter;  // filter noted in a merge of ours
  std::string merged_by;              // otherData.traceloom.version; set if a merge of ours wrote
                                      // the file
  // Counts bad_sync (a sync or its error bound is no whole number), bad_base, bad_cycles,
  // bad_rounds, overlong_work, and events_lost and the like, which our recorder reports.
  ProblemCounts problems;

  // For other processes: see team/wire.h.
  auto wired() {
    return std::tie(rank_marks, syncs, error_bounds, operation_rows, sync_marks, recorder,
                    distributed_rank, world_size, devices, merged_world_size, groups, hosts,
                    top_level_rank, top_level_sync_us, base_ns, is_beside_rank, is_torch,
                    collectives, tally, threads, cycles, inputs, filter, merged_by, problems);
  }

  // Adds metadata and clock syncs; any other event costs one or two comparisons.
  void add(const Event& event);
  // Adds any event with a usable time, except E.
  void add_begin(const Event& event, const EventTiming& timing) {
    collectives.add(event, timing);
    streams.add(event, timing, problems);
  }
  // Adds the values outside the event list; call it once, at the end of the file.
  void add_top_level(const TopLevelParser& top_level);
  // Appends the evidence of later events of the same file.
  void append(const FileEvidence& later);

  // Returns the clock sync in use: that of the first event, otherwise the top-level key. For a
  // merged file it is that of the lowest rank with a sync, because the whole file is on that rank's
  // clock (after Composer's merger, and ours).
  std::optional<std::int64_t> sync_us() const;
  // True if the file has more than one rank; its pids are then ranks.
  bool has_several_ranks() const;
  // True if a merge of ours wrote the file.
  bool was_merged_by_us() const { return !merged_by.empty(); }
  // True if any merger wrote the file: its events are on one clock, its tracks and ids are
  // separated.
  bool was_merged() const { return has_several_ranks() || was_merged_by_us(); }
};

// When the events of a file end, in its own time: those with times since 1970, and the others.
struct EndTimes {
  CommonTimes relative = {};
  CommonTimes unix_time = {};

  void add(std::int64_t ns) { (is_unix_time(ns) ? unix_time : relative).add(ns); }
  void add(const EndTimes& later) {
    relative.add(later.relative);
    unix_time.add(later.unix_time);
  }
};

// One chunk says this of its file.
struct ReadingPart {
  FileEvidence evidence = {};
  ThreadTallier threads = {};
  StartTimes starts = {};
  EndTimes ends = {};

  // Adds any event of the chunk.
  void add(const Event& event, const EventTiming& timing) {
    add_evidence(event, timing);
    if (timing.usable) add_times(event, timing);
  }
  // The two halves of add(), for a visitor that leaves out some usable events.
  void add_evidence(const Event& event, const EventTiming& timing) {
    if (event.phase == 'M') return evidence.add(event);
    if (SyncMarks::is_mark(event)) evidence.add(event);
    if (!timing.timed || event.phase == 'E') return;
    evidence.add_begin(event, timing);
    threads.add(event, timing);
  }
  // A paired E is never before its B, and a stray one has no place: neither can be the first time.
  void add_times(const Event& event, const EventTiming& timing) {
    if (event.phase == 'M') return;
    if (event.phase == 'E')
      starts.add_end(timing.start_ns);
    else
      starts.add(timing.start_ns, event.offset);
    if (timing.start_ns == 0 && (timing.duration_ns > 0 || event.phase == 'B' ||
                                 event.phase == 'b' || event.phase == 'S' || event.phase == 'C'))
      starts.trust_zero();
    if (event.phase != 'B') ends.add(saturating_add(timing.start_ns, timing.duration_ns));
  }
  void clear();
};

struct FileReading {
  FileEvidence evidence = {};
  StartTimes starts = {};  // when its usable events start
  EndTimes ends = {};      // when they end; a B by itself does not
  ProblemCounts problems = {};
  std::uint64_t listed = 0;  // all events of the list
  std::uint64_t text_bytes = 0;
  std::string error = {};  // why the file could not be read; empty after a success
  bool is_repeat = false;  // others hold its events; `problems` names them

  // Adds the chunks of the file, in their order.
  void append(const ReadingPart& part);
  // Takes the facts that are known at the end of the file.
  void end(const FileEnd& file_end);
  // False for a file from which no events are used.
  bool counts() const { return error.empty() && !is_repeat; }
};

// An input and what was read of it. Both must outlive this object.
struct InputReading {
  const Input& input;
  const FileReading& reading;
};

// Throws `error` for an input that cannot be read and must not be left out. If there are other
// inputs, the message names the option that leaves it out.
[[noreturn]] void stop_at(const Error& error, std::size_t files);

}  // namespace traceloom
