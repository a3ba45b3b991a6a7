// FileSurvey: everything about a file that has to be known before its first event can be written:
// rank and clock evidence, the earliest time, tracks and their names, ids, stray end events.
//
//   SurveyVisitor visitor(paths.size(), on_failure);  scan_files(paths, visitor, {});
//   std::vector<FileSurvey> surveys = visitor.take_surveys();
//
// Memory: the tracks, odd ids and stray ends.
#pragma once

#include "base/error.h"
#include "base/problems.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"
#include "merge/ids/id_keys.h"
#include "merge/ids/id_map.h"
#include "merge/slices/async_slices.h"
#include "merge/slices/cut_slices.h"
#include "scan/scan_files.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// What a merge of ours has noted of a process that it left a process of its own, or of one that a
// row of a rank's process is of.
struct BesideMain {
  std::string title;       // within its rank
  std::string source_pid;  // canonical, in the file that it comes from
  bool operator==(const BesideMain&) const = default;
};

// What it has noted of a row to which it gave a tid: without it, rows of several merges that have
// got the same number would become one.
struct RowSource {
  std::string tid;                         // canonical, in the file that it comes from
  std::optional<BesideMain> process = {};  // when that is not the one that the row is in
  bool is_gpu = false;                     // of a row of another process
  bool operator==(const RowSource&) const = default;
};

// The args in which a merge notes the indexes that its inputs say, beside its own sort_index.
inline constexpr std::string_view kSourceSortIndex = "source_sort_index";
inline constexpr std::string_view kProcessSortIndex = "source_process_sort_index";

// A (pid, tid) as the events write it, or the GPU row that shares them with a CPU thread.
struct TrackFacts {
  std::string pid;  // JSON text, empty when absent
  std::string tid;
  std::uint64_t events = 0;        // without metadata and end events
  std::uint64_t moved_events = 0;  // that are on a row of a GPU instead
  bool is_gpu = false;             // some event is of a category that only GPU rows have
  std::uint64_t ends = 0;          // end events
  bool has_begins = false;         // some event is a begin (B)
  std::uint64_t counters = 0;      // without a tid, which make no track but belong to the process
  bool has_global_async = false;   // async events whose id is not id2.local
  bool has_samples = false;        // top-level samples
  bool has_row() const { return events > 0 || has_samples; }
  std::string name;  // thread_name, decoded
  std::optional<std::int64_t> sort_index;
  // Of a file that was merged before: what its inputs said, also of the process of such a row.
  std::optional<std::int64_t> source_sort_index;
  std::optional<std::int64_t> process_sort_index;
  std::optional<RowSource> source;  // of a file that was merged before
  bool is_of_other_process() const { return source && source->process; }

  // For gpu_rows.h.
  std::vector<std::pair<std::string, std::uint64_t>> gpu_events;  // by gpu_of(), with their number
  std::uint64_t flow_events = 0;                                  // of `events`
  bool is_host = false;   // some event is of a category that only CPU threads have
  std::string host_name;  // of the names: the last that is not that of a GPU row
  std::string gpu_name;   // the last "stream 7"
  // The events of this track are those of which GpuRowFinder says this; and the GPU of the row.
  std::optional<std::string> said_gpu;
  std::optional<std::string> gpu;
};

struct ProcessFacts {
  std::string name;    // process_name, decoded
  std::string labels;  // process_labels, decoded
  std::optional<BesideMain> beside_main = {};
  std::optional<std::int64_t> sort_index = {};
  std::optional<std::int64_t> source_sort_index = {};  // as TrackFacts has it
  std::string composer_name = {};  // the name that Composer gives, whatever torch writes over it
};

// A metadata event that the merge does not write anew, as it stands in the file.
struct KeptMetadata {
  std::string text;
  std::uint64_t offset = 0;
  bool counts_each_time = false;  // equal ones are not one: each says of other events
};

// When a B that stays one ends.
struct BeginEnd {
  std::uint64_t offset = 0;  // of the B
  std::int64_t end_ns = 0;   // file time
  bool operator==(const BeginEnd&) const = default;
};

struct FileSurvey {
  FileEvidence evidence;
  std::uint64_t tracks_before = 0;   // of the files before it, but for those with too many
  bool has_too_many_tracks = false;  // with those; `tracks` is empty then
  std::vector<TrackFacts> tracks;    // in order of first appearance
  std::map<std::string, ProcessFacts> processes;  // by canonical pid
  std::vector<KeptMetadata> metadata;             // each text once; see counts_each_time
  IdSet flow_ids;                                 // s t f
  std::uint64_t shared_flows = 0;                 // of PlanOptions::shared_flows
  std::uint64_t next_ends = 0;                    // f that wait for the next slice, not shared
  IdSet bind_ids;                                 // bind_id of flows between slices
  HexIds async_ids;                               // b n e S T p F
  AsyncSlices async_slices;                       // of b e S T p F
  HexIds object_ids;                              // N O D ( ) v V P
  // The processes that a memory dump (v) is of, canonical, by its object_id_key(); all but the
  // first have a process_dump_key() in object_ids, too.
  std::map<std::string, std::vector<std::string>> dumps;
  std::set<std::string> counters;            // by counter_key()
  std::uint32_t frame_groups = 0;            // of stack frames, where a merge has made groups
  std::vector<std::uint64_t> orphan_ends;    // offsets of E events without a B, ascending;
                                             // only when asked for
  std::vector<std::uint64_t> joined_halves;  // the same of the B and E events that become
                                             // X even when B and E are kept
  std::vector<BeginEnd> begin_ends;          // of the others, by offset; only when asked for
  std::vector<BeginEnd> open_begins_inside;  // of B that nothing closes: when the slice around
                                             // them ends; by offset, as joined_halves
  CutSlices cut_slices;                      // of our recorder
  bool lacks_durations = false;              // some X says no dur
  std::uint64_t events = 0;                  // usable ones, without metadata
  std::uint64_t ends = 0;                    // E among them
  std::uint64_t open_begins = 0;             // by how many B outnumber E at the end, at least
  std::uint64_t most_open_begins = 0;        // the same at any time
  StartTimes starts;                         // of what will be written
  StartTimes end_times;                      // when that ends; a B by itself does not
  bool sub_microsecond = false;              // some time is no whole microsecond
  std::vector<TopLevelEntry> top_level;      // strict JSON
  std::uint64_t text_bytes = 0;
  ProblemCounts problems;
};

// How many events a merge writes of a file that it drops nothing of: a pair of B and E is one, and
// an E without a B none.
inline std::uint64_t events_to_write(const FileSurvey& survey, bool keeps_begin_end) {
  if (!keeps_begin_end) return survey.events - survey.ends;
  const std::uint64_t open = survey.problems.count(Problem::begin_without_end);
  const std::uint64_t joined_pairs = (survey.joined_halves.size() - open) / 2;
  return survey.events - survey.orphan_ends.size() - joined_pairs;
}

// Told of a file that is no trace or cannot be read: throw to stop, return to leave it out.
using FailureHandler = std::function<void(std::size_t file, const Error& error)>;

}  // namespace traceloom
