// The facts that a merge has to know of a file, as data.
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "identity/evidence/file_reading.h"
#include "merge/facts/ids.h"
#include "merge/slices/slice_facts.h"
#include "scan/scan_files.h"
#include "select/step_marks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {

// FilterFacts: what only a filter has to know of a file.

// A place where one or more flow events stand.
struct FlowPlace {
  std::int64_t ns = 0;
  std::uint32_t row = 0;
  bool binds_next = false;  // to the next slice, not to the one around

  bool operator==(const FlowPlace&) const = default;
};

// Of one file, times as the file has them. Memory: 16 bytes for each place where a flow event
// stands, the steps.
struct FilterFacts {
  StringTable tracks;             // of the flow events, as TrackPlan::target() takes them
  std::vector<FlowPlace> places;  // their `row` is a number of `tracks`
  StepMarks steps;
};

// FileSurvey: everything about a file that has to be known before its first event can be written:
// rank and clock evidence, the earliest time, tracks and their names, ids.
//
//   SurveyVisitor visitor(paths.size(), on_failure);  scan_files(paths, visitor, {});
//   std::vector<FileSurvey> surveys = visitor.take_surveys();
//
// Memory: the tracks and odd ids.

// The note of a merge of ours about a process that it did not join with its rank's main process, or
// of the process that a row has come from.
struct BesideMain {
  std::string title;       // unique within its rank
  std::string source_pid;  // canonical, as in the file that it comes from
  bool operator==(const BesideMain&) const = default;
};

// The note of a merge of ours about a row to which it gave a tid. Without it, rows of several
// merges that have got the same number would become one.
struct RowSource {
  std::string tid;                         // canonical, as in the file that it comes from
  std::optional<BesideMain> process = {};  // set if the row is in another process now
  bool is_gpu = false;                     // the other process was a GPU's
  bool operator==(const RowSource&) const = default;
};

// The args in which a merge notes the sort indexes of its inputs, next to its own sort_index.
inline constexpr std::string_view kSourceSortIndex = "source_sort_index";
inline constexpr std::string_view kProcessSortIndex = "source_process_sort_index";

// A (pid, tid) as the events write it, or the GPU row that shares them with a CPU thread.
struct TrackFacts {
  std::string pid;  // JSON text, empty when absent
  std::string tid;
  std::uint64_t events = 0;        // without metadata and end events
  std::uint64_t moved_events = 0;  // events that are on a row of a GPU instead
  bool is_gpu = false;             // some event is of a category that only GPU rows have
  std::uint64_t ends = 0;          // end events
  bool has_begins = false;         // some event is a begin (B)
  // Samples without a tid, which make no track but belong to the process.
  std::uint64_t counters = 0;
  bool has_global_async = false;  // async events whose id is not id2.local
  bool has_samples = false;       // top-level samples
  bool has_row() const { return events > 0 || has_samples; }
  std::string name;  // thread_name, decoded
  std::optional<std::int64_t> sort_index;
  // The indexes that the inputs of an earlier merge had, also of the process that the row has come
  // from.
  std::optional<std::int64_t> source_sort_index;
  std::optional<std::int64_t> process_sort_index;
  std::optional<RowSource> source;  // set in a file that was merged before
  bool is_of_other_process() const { return source && source->process; }

  // Facts for input_tracks.h.
  // number of events for each gpu_of()
  std::map<std::string, std::uint64_t, std::less<>> gpu_events;
  std::uint64_t flow_events = 0;  // flow events among `events`
  bool is_host = false;           // some event is of a category that only CPU threads have
  std::string host_name;          // the last name that is not that of a GPU row
  std::string gpu_name;           // the last name like "stream 7"
  // `said_gpu` is what GpuRowFinder returns for the events of this track; `gpu` is the GPU of the
  // row.
  std::optional<std::string> said_gpu;
  std::optional<std::string> gpu;

  auto wired() {
    return std::tie(pid, tid, events, moved_events, is_gpu, ends, has_begins, counters,
                    has_global_async, has_samples, name, sort_index, source_sort_index,
                    process_sort_index, source, gpu_events, flow_events, is_host, host_name,
                    gpu_name, said_gpu, gpu);
  }
};

struct ProcessFacts {
  std::string name;    // process_name, decoded
  std::string labels;  // process_labels, decoded
  std::optional<BesideMain> beside_main = {};
  std::optional<std::int64_t> sort_index = {};
  std::optional<std::int64_t> source_sort_index = {};  // see TrackFacts
  std::string composer_name = {};  // the name that Composer gives, even if torch writes over it
};

// A metadata event that the merge does not write anew, as it stands in the file.
struct KeptMetadata {
  std::string text;
  std::uint64_t offset = 0;
  bool counts_each_time = false;  // equal texts are kept each time: each describes other events
};

// What the events of a file, or of a part of it, add up to.
struct EventFacts {
  IdSet flow_ids;                  // ids of s t f
  std::uint64_t shared_flows = 0;  // flow events of PlanOptions::shared_flows
  // The number of f that wait for the next slice and are not shared.
  std::uint64_t next_ends = 0;
  IdSet bind_ids;        // bind_id of flows between slices
  HexIds async_ids;      // ids of b n e S T p F
  HexIds object_ids;     // ids of N O D ( ) v V P
  StringTable counters;  // counter_key() of each
  // Groups of stack frames that an earlier merge has made.
  std::uint32_t frame_groups = 0;
  CutSlices cut_slices;          // from our recorder
  bool lacks_durations = false;  // some X has no dur
  std::uint64_t events = 0;      // usable ones, without metadata
  std::uint64_t end_events = 0;  // E among them
  bool sub_microsecond = false;  // some time is no whole microsecond

  // Adds a later part of the file.
  void append(EventFacts& later) {
    flow_ids.add(later.flow_ids);
    shared_flows += later.shared_flows;
    next_ends += later.next_ends;
    bind_ids.add(later.bind_ids);
    async_ids.add(later.async_ids);
    object_ids.add(later.object_ids);
    for (std::uint32_t i = 0; i < later.counters.size(); ++i) counters.intern(later.counters[i]);
    frame_groups = std::max(frame_groups, later.frame_groups);
    cut_slices.append(std::move(later.cut_slices));
    lacks_durations |= later.lacks_durations;
    events += later.events;
    end_events += later.end_events;
    sub_microsecond |= later.sub_microsecond;
  }
  // Notes the group of a stack frame.
  void add_frame(std::string_view json_id) {
    if (const std::optional<std::uint32_t> group = frame_group(json_id))
      frame_groups = std::max(frame_groups, *group + 1);
  }
};

struct FileSurvey : FileReading, EventFacts {
  std::uint64_t tracks_before = 0;   // tracks of the files before it, except files with too many
  bool has_too_many_tracks = false;  // `tracks` is empty then
  std::vector<TrackFacts> tracks;    // in order of first appearance
  std::map<std::string, ProcessFacts> processes;  // key: canonical pid
  std::vector<KeptMetadata> metadata;             // texts occur once; see counts_each_time
  AsyncSlices async_slices;                       // additions to b e S T p F
  // The canonical pids of the processes that a memory dump (v) describes, by its object_id_key();
  // all but the first have a process_dump_key() in object_ids, too.
  std::map<std::string, std::vector<std::string>> dumps;
  std::uint64_t open_begins = 0;         // at least so many more B than E at the end
  std::uint64_t most_open_begins = 0;    // the same at the worst moment
  std::vector<TopLevelEntry> top_level;  // strict JSON
  FilterFacts filter;                    // empty if the merge has no filter

  // For other processes: see team/wire.h.
  auto wired() {
    return std::tie(static_cast<FileReading&>(*this), static_cast<EventFacts&>(*this),
                    tracks_before, has_too_many_tracks, tracks, processes, metadata, async_slices,
                    dumps, open_begins, most_open_begins, top_level, filter);
  }
};

// Returns how many events a merge writes of a file if it drops none: a pair of B and E is one
// event, and an E without a B is none.
inline std::uint64_t events_to_write(const FileSurvey& survey) {
  return survey.events - survey.end_events;
}

// Called with a file that is no trace or cannot be read. It throws to stop the merge, or returns to
// leave the file out.
using FailureHandler = std::function<void(std::size_t file, const Error& error)>;

}  // namespace traceloom
