// FilterPlan: what a MergeFilter means for the files and events of one merge.
//
//   FilterPlan plan(filter, merge_plan, surveys, facts);
//   if (plan.reads(file)) ... plan.keeps(file, event, *target, time, memory)
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "identity/evidence/merged_cycles.h"
#include "merge/facts/file_survey.h"
#include "merge/facts/filter_facts.h"
#include "merge/options/merge_filter.h"
#include "merge/plan/kept_events.h"
#include "merge/plan/output_time.h"
#include "merge/rows/track_plan.h"
#include "select/time_selection.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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
  const TrackTarget* target_ = nullptr;
  const void* process_ = nullptr;  // the FilterPlan::Process of target_
  std::string scratch_;
};

// Numbers of events that stay and that do not.
struct KeptCounts {
  std::uint64_t kept = 0;
  std::uint64_t filtered = 0;
};

// Steps of arrows (t) that become the start or the end of their arrow, because the filter drops
// what was on their other side. Both lists hold offsets, ascending.
struct CutArrows {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> ends;
};

// The result of a look at all events (selection_visitor.h).
struct Selection {
  std::vector<KeptEvents> linked;  // one a file: events that stay or go with others
  std::vector<CutArrows> cuts;     // one a file
  std::vector<KeptCounts> events;  // one a file
  // One a file: its counts by rank, for ranks that have any.
  std::vector<std::map<std::int64_t, KeptCounts>> events_of_rank;
  std::vector<OutputProcess> rows;      // the rows of the merge that have events left
  std::vector<MergedCycle> cycles;      // the cycles that have events left, with their times
  std::vector<std::string> categories;  // some that occur, if the filter asks for categories
};

// Decides which files and events stay. Thread-safe once made.
class FilterPlan {
 public:
  // `filter` and `plan` must outlive this object; `facts` may be empty if the filter asks for whole
  // ranks. Throws UsageError if steps are asked for and no file says where they begin.
  FilterPlan(const MergeFilter& filter, const MergePlan& plan,
             const std::vector<FileSurvey>& surveys, const std::vector<FilterFacts>& facts);

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
  // Returns whether an event that begins then on the track is in the time asked for.
  bool is_in_time(const TrackTarget& target, std::int64_t start_ns) const {
    return processes_.find(target.pid)->second.contains(start_ns);
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

  void find_windows(const MergePlan& plan, const std::vector<FilterFacts>& facts);
  std::map<std::int64_t, std::vector<TimeWindow>> find_steps(const MergePlan& plan,
                                                             const std::vector<FilterFacts>& facts);
  File plan_file(const MergePlan& plan, std::size_t file, const FileSurvey& survey) const;
  void show(std::vector<OutputProcess> rows);
  const Process& process_of(const TrackTarget& target, FilterMemory& memory) const;
  FilterMemory::Label label_of(const Event& event, FilterMemory& memory) const;

  const MergeFilter* filter_;
  std::map<std::string, Process, std::less<>> processes_;  // key: pid
  std::vector<File> files_;
  bool needs_selection_ = false;
  std::optional<NumberRange> known_steps_;
  Selection selection_;
  std::vector<OutputProcess> rows_;
  std::set<std::string, std::less<>> shown_pids_;
};

}  // namespace traceloom
