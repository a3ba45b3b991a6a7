// The decisions of a merge before it writes its first byte: MergePlan, and in it FilterPlan, which
// says what stays.
#pragma once

#include "base/arithmetic.h"
#include "base/string_table.h"
#include "clock/alignment.h"
#include "clock/time_map.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "identity/evidence/merge_notes.h"
#include "identity/ranks/ranks.h"
#include "merge/facts/file_survey.h"
#include "merge/facts/ids.h"
#include "merge/options/merge_options.h"
#include "merge/rows/track_plan.h"
#include "merge/slices/slice_facts.h"
#include "select/selection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// KeptEvents: remembers by their offsets which events of a file stay.
//
//   KeptEvents kept;
//   kept.add(event.offset, true);    // in any order
//   kept.finish();
//   kept.keeps(event.offset)         // for an event that was added

// Whether an event may stay by another one: s t f, b e S T p F. (An n stands alone.)
inline bool is_linked_phase(char phase) {
  return phase == 's' || phase == 't' || phase == 'f' || phase == 'b' || phase == 'e' ||
         phase == 'S' || phase == 'T' || phase == 'p' || phase == 'F';
}

// Memory: eight bytes for each event that stays, or for each that does not: whichever are fewer.
// Thread-safe once finished.
class KeptEvents {
 public:
  void add(std::uint64_t offset, bool kept) { (kept ? kept_ : dropped_).push_back(offset); }
  void finish() {
    lists_kept_ = kept_.size() <= dropped_.size();
    offsets_ = std::move(lists_kept_ ? kept_ : dropped_);
    std::vector<std::uint64_t>().swap(kept_);
    std::vector<std::uint64_t>().swap(dropped_);
    offsets_.shrink_to_fit();
    std::ranges::sort(offsets_);
  }
  bool keeps(std::uint64_t offset) const {
    return std::ranges::binary_search(offsets_, offset) == lists_kept_;
  }

 private:
  std::vector<std::uint64_t> kept_;
  std::vector<std::uint64_t> dropped_;
  std::vector<std::uint64_t> offsets_;
  bool lists_kept_ = true;
};

// output_time(): when an event happens in the output.
//
//   const std::optional<OutputTime> time = output_time(timing, plan.files[file].times);

struct OutputTime {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // for an X: as in the file, or mapped where the clock drifts
  std::int64_t end_ns = 0;       // cut to the largest time if it does not fit
  SliceEnd slice_end = SliceEnd::known;

  // True for an X whose length is known only at the end of its file. Until then it has no duration.
  bool is_endless() const { return slice_end != SliceEnd::known; }
};

// Returns nullopt if the time does not fit.
inline std::optional<OutputTime> output_time(const EventTiming& timing, const TimeMap& times) {
  OutputTime time{0, timing.duration_ns, 0, timing.slice_end};
  if (!times.map(timing.start_ns, time.start_ns)) return std::nullopt;
  std::int64_t end_ns = 0;
  if (times.has_drift() && timing.duration_ns != 0 &&
      times.map_end(timing.start_ns, saturating_add(timing.start_ns, timing.duration_ns), end_ns))
    time.duration_ns = end_ns - time.start_ns;
  time.end_ns = saturating_add(time.start_ns, time.duration_ns);
  return time;
}

// FilterPlan: what a MergeFilter means for the files and events of one merge.
//
//   FilterPlan plan(filter, merge_plan);
//   if (plan.reads(file)) ... plan.keeps(file, event, *target, time, memory)

struct MergePlan;

// A filter's memory of the latest events. One thread at a time may use it.
class FilterMemory {
 private:
  friend class FilterPlan;
  struct Label {
    bool accepted;
    bool excluded;
  };
  StringTable label_texts_;  // name, '\0', category as JSON text
  std::vector<Label> labels_;
  std::string scratch_;
};

// Numbers of events that stay and that do not.
struct KeptCounts {
  std::uint64_t kept = 0;
  std::uint64_t filtered = 0;
};

// A step of an arrow (t) that becomes the start (s) or the end (f) of its arrow, because the filter
// drops what was on its other side.
struct CutStep {
  std::uint64_t offset = 0;
  char phase = 0;
};

// The result of a look at all events (selection.h).
struct Selection {
  std::vector<KeptEvents> linked;          // one a file: events that stay or go with others
  std::vector<std::vector<CutStep>> cuts;  // one a file, ascending by offset
  std::vector<KeptCounts> events;          // one a file
  // One a file: its counts by rank, for ranks that have any.
  std::vector<std::map<std::int64_t, KeptCounts>> events_of_rank;
  std::vector<OutputProcess> rows;      // the rows of the merge that have events left
  std::vector<MergedCycle> cycles;      // the cycles that have events left, with their times
  std::vector<std::string> categories;  // some that occur, if the filter asks for categories
};

// Decides which files and events stay. Thread-safe once made.
class FilterPlan {
 public:
  // `filter` must outlive this object; the surveys may lack FilterFacts if it asks for whole ranks.
  // Throws UsageError if steps are asked for and no file says where they begin.
  FilterPlan(const MergeFilter& filter, const MergePlan& plan);

  const MergeFilter& filter() const { return *filter_; }
  bool wants_rank(std::int64_t rank) const;
  // Returns true for a file of a wanted rank.
  bool wants_file(std::size_t file) const { return files_[file].wanted; }
  // Returns false also if all events of the file begin at other times than those asked for.
  bool reads(std::size_t file) const { return files_[file].read; }
  // Return how many events of a file stay, and how many do not. A pair of B and E counts once,
  // unless it stays a pair. kept() is known once there is a selection, or if none is needed.
  std::uint64_t kept(std::size_t file) const;
  std::uint64_t filtered(std::size_t file) const;
  // Returns both numbers for one rank of the file, once there is a selection.
  KeptCounts counts_of(std::size_t file, std::int64_t rank) const;
  // Returns true if a Selection must be made before events can be written: which events belong
  // together, and which rows have events left, is not known yet.
  bool needs_selection() const { return needs_selection_; }

  void set_selection(Selection selection);
  // Adjusts the filter to an output whose times count from `ns` earlier than before.
  void move_origin(std::int64_t ns);
  const Selection& selection() const { return selection_; }

  // Returns whether an event stays. A B, and an event without an end, is judged without its
  // duration.
  bool keeps(std::size_t file, const Event& event, const TrackTarget& target,
             const OutputTime& time, FilterMemory& memory) const;
  // Returns the same for an event judged by itself.
  bool accepts(const Event& event, const TrackTarget& target, const OutputTime& time,
               FilterMemory& memory) const;
  // Returns the ph of a flow event that stays: if its arrow was cut, a t becomes an s or an f.
  char phase_of_flow(std::size_t file, const Event& event) const;
  // Returns whether the event has a name or category that is not wanted.
  bool excludes(const Event& event, FilterMemory& memory) const;
  // Returns whether an event that begins then in TrackPlan::processes()[process] is in the time
  // asked for.
  bool is_in_time(std::size_t process, std::int64_t start_ns) const {
    return processes_[process].contains(start_ns);
  }
  bool is_long_enough(std::int64_t duration_ns) const {
    return duration_ns >= filter_->min_duration_ns;
  }
  // The processes and tracks that the output shows: those of the wanted ranks, and once there is a
  // selection only those with events left.
  const std::vector<OutputProcess>& rows() const { return rows_; }
  bool shows(std::string_view pid) const { return shown_pids_.contains(pid); }
  // The lowest and the highest step that the files mention, if steps are asked for.
  const std::optional<NumberRange>& known_steps() const { return known_steps_; }

 private:
  struct File {
    bool wanted = true;
    bool read = true;
    std::uint64_t events = 0;
  };
  // A process of the output.
  struct Process {
    std::int64_t rank = 0;
    bool wanted = true;
    std::vector<TimeWindow> windows;  // in times of the output
    bool contains(std::int64_t start_ns) const;
  };

  void find_windows(const MergePlan& plan);
  std::map<std::int64_t, std::vector<TimeWindow>> find_steps(const MergePlan& plan);
  File plan_file(const MergePlan& plan, std::size_t file) const;
  void show(std::vector<OutputProcess> rows);
  FilterMemory::Label label_of(const Event& event, FilterMemory& memory) const;

  const MergeFilter* filter_;
  std::vector<Process> processes_;  // as in TrackPlan::processes()
  std::vector<File> files_;
  bool needs_selection_ = false;
  std::optional<NumberRange> known_steps_;
  Selection selection_;
  std::vector<OutputProcess> rows_;
  std::set<std::string, std::less<>> shown_pids_;
};

// MergePlan: everything a merge has decided before it writes its first byte.

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

// What becomes of the events of a file: files with equal ones are written alike.
struct EventPlan {
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
  std::vector<std::uint64_t> startless_ends = {};  // see linked_events.h
  AsyncSlices async_slices = {};                   // those of its survey
  // The process_dump_key()s of memory dumps that get an id of their own: their process is joined
  // with another process that has the same dump.
  std::set<std::string, std::less<>> own_dumps = {};
  SupersededSlices superseded = {};  // cut slices that another file has as a whole
  bool lacks_durations = false;      // some X has no dur

  // Returns true for a cut slice, or the E of one, that is not written.
  bool is_superseded(const Event& event, const TrackTarget& target) const;
  // Returns true for an end of an arrow (f) that has no start and waits for the next slice.
  bool is_startless_end(const Event& event) const;
  bool binds_next(const Event& event) const;
  bool operator==(const EventPlan&) const = default;
};

struct FilePlan : EventPlan {
  std::string path;
  FileRank rank;
  FileClock clock;
  ProblemCounts problems;  // top-level values that cannot be kept
};

// The first number for flows between slices (bind_id). Perfetto numbers these and flow events in
// one table, flow events from 0 up. So bind ids begin here, or after the flow events of all files
// if those reach further. A file that was merged before keeps its bind ids apart from its flow ids
// already.
inline constexpr std::uint64_t kFirstBindId = std::uint64_t{1} << 39;

// It has the surveys of the files because its id maps refer to them. It may be moved, not copied.
struct MergePlan {
  std::vector<FileSurvey> surveys;  // one a file
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
  // If set, all other ranks are left out; see archive_merge.h.
  std::optional<std::int64_t> only_rank = {};
  std::optional<FilterPlan> filter = {};  // none: everything is written
  std::vector<std::size_t> order = {};    // in which files are written; see make_plan.h

  bool writes(std::int64_t rank) const {
    return (!only_rank || rank == *only_rank) && (!filter || filter->wants_rank(rank));
  }
};

}  // namespace traceloom
