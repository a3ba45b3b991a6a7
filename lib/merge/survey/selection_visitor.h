// The selection that a filter leaves of a merge: events, tracks, and the times of its cycles.
#pragma once

#include "identity/evidence/event_tally.h"
#include "identity/evidence/merge_notes.h"
#include "merge/plan/plan.h"
#include "merge/slices/flow_binder.h"
#include "merge/survey/linked_events.h"
#include "scan/begin_end.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace traceloom {

// CycleTimes: what a filter leaves of the cycles of a merge, gathered event by event.
//
//   CycleTimes kept;
//   for (each event that stays) kept.add(plan.cycles, start_ns);      // on the common clock
//   plan.cycles = kept.left_of(plan.cycles);

// Memory: 16 bytes a cycle. All calls must pass the same cycles.
class CycleTimes {
 public:
  void add(const std::vector<MergedCycle>& cycles, std::int64_t ns);
  void add(const CycleTimes& other);
  void clear() { *this = {}; }

  // Returns the cycles that have events, each from its first to its last event.
  std::vector<MergedCycle> left_of(const std::vector<MergedCycle>& cycles) const;
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(times_); }

 private:
  void look_up(const std::vector<MergedCycle>& cycles, std::int64_t ns);

  std::vector<CommonTimes> times_;  // one a cycle, or none
  // The cycle of the latest event and its bounds: the next event is mostly of the same cycle.
  std::size_t cycle_ = 0;
  std::int64_t from_ns_ = 0;
  std::int64_t last_ns_ = -1;
};

// SelectionVisitor: goes over all events with a plan, as the writer will, and finds what a filter
// leaves: which flow and async events, which tracks, and how many events.
//
//   SelectionVisitor visitor(plan);
//   scan_files(paths, visitor, {});
//   plan.filter->set_selection(visitor.take_selection());

// A process has found this in some of the files, and the others have to know it. Only the writer of
// a file has to know which of its flow and async events stay.
struct SelectionPart {
  struct File {
    std::size_t file = 0;
    KeptCounts events;
    std::map<std::int64_t, KeptCounts> events_of_rank;
    auto wired() { return std::tie(file, events, events_of_rank); }
  };
  std::vector<File> files;
  std::set<std::uint32_t> rows;
  std::set<std::string> categories;
  CycleTimes cycles;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(files, rows, categories, cycles); }
};

// Memory: what KeptEvents needs for all files, and the flow and async events of one file.
class SelectionVisitor : public FileVisitor {
 public:
  // `plan` must have a filter and outlive this visitor, which takes the FilterFacts of its surveys.
  explicit SelectionVisitor(MergePlan& plan);
  ~SelectionVisitor() override;

  // Must be called after all files have been read.
  Selection take_selection();

  // If each process of a team has read some of the files: part() has what this one knows, and
  // add_part() takes what another one does, again if need be.
  SelectionPart part() const;
  void add_part(SelectionPart part);

  Args wanted_args() const override { return Args::skip; }  // nothing is written here
  std::unique_ptr<ChunkResult> make_result() override;
  void recycle(std::unique_ptr<ChunkResult> result) override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;

 private:
  struct EndlessFlowSlice;
  struct Chunk;
  // The facts gathered of the file that is being taken.
  struct CurrentFile;

  std::uint32_t row_of(const TrackTarget& target) const;
  std::uint32_t process_row(const TrackTarget& target) const;
  std::vector<FlowPlace> places_of(std::size_t file, const FilterFacts& facts) const;
  void count(std::size_t file, std::uint32_t row, bool kept, std::uint64_t events);
  void note_time(std::int64_t output_ns, CycleTimes& cycles) const;
  void add_pair(std::size_t file, const BeginEndPair& pair);
  void add_open(std::size_t file, const OpenBegin& begin);
  void add_slice(std::size_t file, std::uint32_t row, bool accepted, std::int64_t start_ns,
                 std::int64_t end_ns);
  std::vector<OutputProcess> kept_rows() const;

  const MergePlan& plan_;
  const FilterPlan& filter_;
  bool looks_at_categories_;
  // Rows of the output by pid and tid; the row of pid and "" is for what belongs to a process
  // alone.
  std::map<std::pair<std::string, std::string>, std::uint32_t> rows_;
  std::vector<std::int64_t> rank_of_row_;
  std::vector<FlowBinder> binders_;
  Selection selection_;
  std::unordered_set<std::uint32_t> kept_rows_;
  std::set<std::string> categories_;
  CycleTimes cycles_;
  std::unique_ptr<CurrentFile> current_;
  std::unique_ptr<ResultPool<Chunk>> pool_;
};

}  // namespace traceloom
