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
#include <span>
#include <string>
#include <vector>

namespace traceloom {

// To whom the ids of a file's async events belong in the output: what viewers pair by them.
enum class AsyncScope : std::uint8_t {
  process,  // to the process: all that may share one are in it
  trace,    // to the trace: an event may begin in one process and end in another
  kept,     // as an earlier merge has it
};

// Numbers for ids that are written as hexadecimal text.
struct HexIdMap {
  IdMap map;
  bool keeps = false;  // the file was merged before: ids go by the numbers that they have
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
  std::uint64_t object_ids_end = 0;  // above those of all files
  // Of a file with objects: its processes, by canonical pid, as references to objects name them.
  std::map<std::string, std::string, std::less<>> object_pids = {};
  FrameIds frames = {};
  // Of counters that another process of the rank has as well, by counter_key().
  std::map<std::string, std::string, std::less<>> counter_suffixes = {};
  bool keeps_subtraces = false;  // embedded traces, which need no other times than they have
  AsyncScope async_scope = AsyncScope::process;
  std::vector<std::string> shared_flows = {};   // PlanOptions::shared_flows
  bool matches_names = false;                   // see BeginEndPairer::match_names()
  bool keeps_order = false;                     // a merge has put its events in order already
  std::vector<std::uint64_t> orphan_ends = {};  // offsets, ascending
  std::vector<std::uint64_t> joined_halves = {};
  std::span<const BeginEnd> begin_ends = {};          // of B that stay and are sorted; by offset
  std::span<const BeginEnd> open_begins_inside = {};  // of B that become X, where others stay
  std::vector<std::uint64_t> startless_ends = {};     // see flow_starts.h
  AsyncSlices async_slices = {};
  // The process_dump_key()s of memory dumps that get an id of their own, since their process
  // becomes one with another one that has the dump.
  std::set<std::string, std::less<>> own_dumps = {};
  SupersededSlices superseded = {};  // cut slices of which another file has all
  bool lacks_durations = false;      // some X says no dur
  ProblemCounts problems = {};       // top-level values that cannot be kept

  // Whether it is a cut slice, or the E of one, that is not to be written.
  bool is_superseded(const Event& event, const TrackTarget& target) const;
  // Whether it is an end of an arrow (f) without a start, or one that waits for the next slice.
  bool is_startless_end(const Event& event) const;
  // How long a B lasts in the output, where begin_ends tell.
  std::optional<std::int64_t> begin_duration_ns(const Event& event, std::int64_t start_ns) const;
  // When the slice ends in the output that a B that nothing closes is in, where
  // open_begins_inside tell.
  std::optional<std::int64_t> around_end_ns(const Event& event) const;
  bool binds_next(const Event& event) const;
};

// Perfetto numbers flows between slices (bind_id) and flow events in one table, the latter from 0
// up: bind ids begin here, or behind the flow events of all files where those reach further. Those
// of a file that was merged before are kept apart from its flow ids already.
inline constexpr std::uint64_t kFirstBindId = std::uint64_t{1} << 39;

// `surveys` must outlive the plan: the id maps and ends of begins refer to them.
struct MergePlan {
  std::vector<FilePlan> files;
  TrackPlan tracks;
  std::int64_t origin_ns = 0;    // common time of output time 0
  bool sub_microsecond = false;  // some time has digits below the microsecond
  bool keeps_begin_end = false;  // B and E stay what they are
  bool has_objects = false;      // that args may refer to
  bool sorts_by_time = false;
  PidLayout pids = PidLayout::rank;
  std::int64_t earliest_ns = 0;  // common time of the earliest event of all, floored to 1 us
  // The clock sync of the reference, whose clock all are on, and the shortest that a rank took for
  // it: for a merge of this merge.
  std::optional<std::int64_t> sync_us = {};
  std::optional<std::int64_t> sync_error_bound_us = {};
  std::vector<MergedCycle> cycles = {};        // for that, too
  std::optional<std::int64_t> only_rank = {};  // all others are left out; see rank_parts.h
  std::optional<FilterPlan> filter = {};       // none: everything is written
  std::vector<std::size_t> order = {};         // in which files are written; see file_order.h

  bool writes(std::int64_t rank) const {
    return (!only_rank || rank == *only_rank) && (!filter || filter->wants_rank(rank));
  }
};

}  // namespace traceloom
