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

// What a filter has found out about events of late; one at a time may use it.
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
  const void* process_ = nullptr;  // FilterPlan::Process, of target_
  std::string scratch_;
};

// How many events stay, and how many do not.
struct KeptCounts {
  std::uint64_t kept = 0;
  std::uint64_t filtered = 0;
};

// Steps of arrows (t) that begin or end one, since what led there or on is filtered away; by their
// offsets, ascending.
struct CutArrows {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> ends;
};

// What a look at all events has found (selection_visitor.h).
struct Selection {
  std::vector<KeptEvents> linked;  // by file: events that go by others
  std::vector<CutArrows> cuts;     // by file
  std::vector<KeptCounts> events;  // by file
  // By file: the same by rank, as far as it has any.
  std::vector<std::map<std::int64_t, KeptCounts>> events_of_rank;
  std::vector<OutputProcess> rows;      // those of the merge that have events that stay
  std::vector<MergedCycle> cycles;      // those that have events that stay, by these
  std::vector<std::string> categories;  // some that occur, when some are asked for
};

// Thread-safe once made.
class FilterPlan {
 public:
  // `filter` and `plan` must live as long; `facts` may be empty when whole ranks are asked for.
  // Throws UsageError when steps are asked for and no file says where they begin.
  FilterPlan(const MergeFilter& filter, const MergePlan& plan,
             const std::vector<FileSurvey>& surveys, const std::vector<FilterFacts>& facts);

  const MergeFilter& filter() const { return *filter_; }
  bool wants_rank(std::int64_t rank) const;
  // Of a file of such a rank.
  bool wants_file(std::size_t file) const { return files_[file].wanted; }
  // False as well when all its events begin at other times.
  bool reads(std::size_t file) const { return files_[file].read; }
  // How many events of a file stay, and how many do not; a pair of B and E is one, unless it is
  // left as it is. The first is known once there is a selection, or none is needed.
  std::uint64_t kept(std::size_t file) const;
  std::uint64_t filtered(std::size_t file) const;
  // The same of one of its ranks, once there is a selection.
  KeptCounts counts_of(std::size_t file, std::int64_t rank) const;
  // True when a Selection has to be made before events can be written: what belongs together, or
  // has a row, is not known yet.
  bool needs_selection() const { return needs_selection_; }

  void set_selection(Selection selection);
  // Times of the output count from `ns` earlier than they did.
  void move_origin(std::int64_t ns);
  const Selection& selection() const { return selection_; }

  // Whether an event stays. A B, and what is endless, is judged without its duration.
  bool keeps(std::size_t file, const Event& event, const TrackTarget& target,
             const OutputTime& time, FilterMemory& memory) const;
  // The same for an event taken by itself.
  bool accepts(const Event& event, const TrackTarget& target, const OutputTime& time,
               FilterMemory& memory) const;
  // What becomes of the ph of a flow event that stays.
  char phase_of_flow(std::size_t file, const Event& event) const;
  // Whether it is called what is not wanted.
  bool excludes(const Event& event, FilterMemory& memory) const;
  // Whether what begins then on the track is in the time that is asked for.
  bool is_in_time(const TrackTarget& target, std::int64_t start_ns) const {
    return processes_.find(target.pid)->second.contains(start_ns);
  }
  bool is_long_enough(std::int64_t duration_ns) const {
    return duration_ns >= filter_->min_duration_ns;
  }
  // The processes and tracks to be seen in the output: of the ranks that are wanted, once there is
  // a selection those with events that stay.
  const std::vector<OutputProcess>& rows() const { return rows_; }
  bool shows(std::string_view pid) const { return shown_pids_.contains(pid); }
  // The lowest and the highest step that files speak of, when steps are asked for.
  const std::optional<NumberRange>& known_steps() const { return known_steps_; }

 private:
  struct File {
    bool wanted = true;
    bool read = true;
    std::uint64_t events = 0;
  };
  // Of the output.
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
  std::map<std::string, Process, std::less<>> processes_;  // by pid
  std::vector<File> files_;
  bool needs_selection_ = false;
  bool keeps_begin_end_ = false;
  std::optional<NumberRange> known_steps_;
  Selection selection_;
  std::vector<OutputProcess> rows_;
  std::set<std::string, std::less<>> shown_pids_;
};

}  // namespace traceloom
