// MergePlan: everything a merge has decided before it writes its first byte.
#pragma once

#include "clock/alignment.h"
#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"
#include "merge/ids/id_map.h"
#include "merge/ids/stack_frames.h"
#include "merge/options/plan_options.h"
#include "merge/plan/filter_plan.h"
#include "merge/rows/track_plan.h"
#include "merge/slices/cut_slices.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

// The owner of a file's async ids in the output. Viewers pair events by it.
enum class AsyncScope : std::uint8_t {
  process,  // the process: all events that may share an id are in it
  trace,    // the trace: an event may begin in one process and end in another
  kept,     // whatever an earlier merge has chosen
};

// Numbers for ids that are written as hexadecimal text.
struct HexIdMap {
  IdMap map;
  bool keeps = false;  // the file was merged before: its ids keep their numbers
  bool operator==(const HexIdMap&) const = default;
};

struct FilePlan {
  std::string path;
  FileRank rank;
  FileClock clock;
  TimeMap times = TimeMap();  // from file time to output time
  IdMap flow_ids;
  IdMap bind_ids;
  HexIdMap async_ids;
  HexIdMap object_ids;
  std::uint64_t object_ids_end = 0;  // ids of objects in all files are below it
  // For a file with objects: the new pid of each process, by canonical pid, because references to
  // objects name processes.
  std::map<std::string, std::string, std::less<>> object_pids = {};
  FrameIds frames = {};
  // The suffix for names of counters that another process of the rank has as well, by
  // counter_key().
  std::map<std::string, std::string, std::less<>> counter_suffixes = {};
  bool keeps_subtraces = false;  // it has embedded traces, whose times stay as they are
  AsyncScope async_scope = AsyncScope::process;
  std::vector<std::string> shared_flows = {};      // PlanOptions::shared_flows
  bool matches_names = false;                      // see BeginEndPairer::match_names()
  bool keeps_order = false;                        // a merge has put its events in order already
  std::vector<std::uint64_t> startless_ends = {};  // see flow_starts.h
  AsyncSlices async_slices = {};
  // The process_dump_key()s of memory dumps that get an id of their own: their process is joined
  // with another process that has the same dump.
  std::set<std::string, std::less<>> own_dumps = {};
  SupersededSlices superseded = {};  // cut slices that another file has as a whole
  bool lacks_durations = false;      // some X has no dur
  ProblemCounts problems = {};       // top-level values that cannot be kept

  // Returns true for a cut slice, or the E of one, that is not written.
  bool is_superseded(const Event& event, const TrackTarget& target) const;
  // Returns true for an end of an arrow (f) that has no start and waits for the next slice.
  bool is_startless_end(const Event& event) const;
  bool binds_next(const Event& event) const;
};

// The first number for flows between slices (bind_id). Perfetto numbers these and flow events in
// one table, flow events from 0 up. So bind ids begin here, or after the flow events of all files
// if those reach further. A file that was merged before keeps its bind ids apart from its flow ids
// already.
inline constexpr std::uint64_t kFirstBindId = std::uint64_t{1} << 39;

// The surveys must outlive the plan: the id maps refer to them.
struct MergePlan {
  std::vector<FilePlan> files;
  TrackPlan tracks;
  std::int64_t origin_ns = 0;    // common time of output time 0
  bool sub_microsecond = false;  // some time has digits below the microsecond
  bool has_objects = false;      // args may refer to objects
  bool sorts_by_time = false;
  PidLayout pids = PidLayout::rank;
  std::int64_t earliest_ns = 0;  // common time of the earliest event of all, floored to 1 us
  // The clock sync of the reference, on whose clock all files are, and the shortest sync that a
  // rank took for it. A later merge of this merge reads both.
  std::optional<std::int64_t> sync_us = {};
  std::optional<std::int64_t> sync_error_bound_us = {};
  std::vector<MergedCycle> cycles = {};  // a later merge reads these, too
  // If set, all other ranks are left out; see rank_parts.h.
  std::optional<std::int64_t> only_rank = {};
  std::optional<FilterPlan> filter = {};  // none: everything is written
  std::vector<std::size_t> order = {};    // in which files are written; see file_order.h

  bool writes(std::int64_t rank) const {
    return (!only_rank || rank == *only_rank) && (!filter || filter->wants_rank(rank));
  }
};

}  // namespace traceloom
