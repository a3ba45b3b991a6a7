#include "merge/survey/selection.h"

#include "base/arithmetic.h"
#include "event/event_timing.h"
#include "merge/edits/field_edits.h"
#include "merge/rows/track_plan.h"
#include "merge/slices/slice_joiner.h"
#include "merge/survey/linked_events.h"
#include "scan/begin_end.h"
#include "team/wire.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace traceloom {

// Divides time as TimeMap::joined() does: everything before the second cycle belongs to the first.
void CycleTimes::add(const std::vector<MergedCycle>& cycles, std::int64_t ns) {
  if (cycles.empty()) return;
  if (times_.empty()) times_.resize(cycles.size());
  const auto later = std::ranges::upper_bound(cycles, ns, {}, &MergedCycle::first_ns);
  times_[later == cycles.begin() ? 0 : static_cast<std::size_t>(later - cycles.begin()) - 1].add(
      ns);
}

void CycleTimes::add(const CycleTimes& other) {
  if (times_.empty()) times_.resize(other.times_.size());
  for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i].add(other.times_[i]);
}

std::vector<MergedCycle> CycleTimes::left_of(const std::vector<MergedCycle>& cycles) const {
  std::vector<MergedCycle> left;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (times_[i] == CommonTimes{}) continue;
    left.push_back(cycles[i]);
    left.back().first_ns = times_[i].first_ns;
    left.back().last_ns = times_[i].last_ns;
  }
  return left;
}

namespace {

// Enough to find the category that was meant.
constexpr std::size_t kMostCategories = 1000;

// Packs into one number the row of a B and whether the filter accepts the B by itself.
std::uint32_t payload_of(std::uint32_t row, bool accepted) {
  return row << 1 | (accepted ? 1U : 0U);
}
std::uint32_t row_in(std::uint32_t payload) {
  return payload >> 1;
}
bool is_accepted(std::uint32_t payload) {
  return (payload & 1U) != 0;
}

// An X without dur, or one that never ended: its end is known when its file has been read.
struct EndlessFlowSlice {
  std::int64_t start_ns;
  std::uint32_t track;  // TrackTarget::number
  std::uint32_t row;
  bool accepted;
  SliceEnd slice_end;
};

struct SelectionChunk : ChunkResult {
  // Facts of this chunk; the keys of `rows` are rows.
  std::unordered_map<std::uint32_t, KeptCounts> rows;
  std::vector<FlowSlice> slices;  // slices around a flow event
  LinkedEvents linked;
  std::vector<EndlessFlowSlice> endless;
  LastStarts last_starts;  // for a file with slices without dur
  BeginEndBatch begin_ends;
  std::vector<std::uint32_t> payloads;
  std::set<std::string> categories;
  LastEnds last_ends;
  CycleTimes cycles;

  // Memory from chunk to chunk, to save look-ups.
  TrackCache tracks;
  FilterMemory memory;
  const TrackTarget* last_target = nullptr;
  std::uint32_t last_row = 0;
  std::uint32_t counted_row = 0;
  KeptCounts* counts = nullptr;              // counts of counted_row
  std::optional<std::string> last_category;  // JSON text

  void count(std::uint32_t row, bool is_kept) {
    if (counts == nullptr || row != counted_row) {
      counts = &rows[row];
      counted_row = row;
    }
    ++(is_kept ? counts->kept : counts->filtered);
  }
  void note_category(const Event& event) {
    const std::string_view category = event.text(Key::cat);
    if (category == last_category) return;
    last_category = category;
    if (categories.size() >= kMostCategories) return;
    const std::string list = is_json_string(category) ? decoded(category) : "";
    categories.emplace(chosen_category(list));
  }
  bool reset() override {
    rows.clear();
    counts = nullptr;
    slices.clear();
    endless.clear();
    last_starts.clear();
    linked.clear();
    begin_ends.clear();
    payloads.clear();
    categories.clear();
    last_ends.clear();
    cycles.clear();
    tracks.reset();
    last_category.reset();
    problems = {};
    return true;
  }
};

// A process has found this in some of the files, and the others have to know it. Only the writer of
// a file has to know which of its flow and async events stay.
struct SelectionPart {
  struct File {
    std::size_t file = 0;
    KeptCounts events;
    std::map<std::int64_t, KeptCounts> events_of_rank;
  };
  std::vector<File> files;
  std::set<std::uint32_t> rows;
  std::set<std::string> categories;
  CycleTimes cycles;
};

class SelectionVisitor : public FileVisitor {
 public:
  explicit SelectionVisitor(MergePlan& plan) : plan_(plan), filter_(*plan.filter) {
    const LabelFilter& labels = filter_.filter().labels;
    looks_at_categories_ = !labels.categories.empty() || !labels.excluded_categories.empty();
    std::uint32_t row = 0;
    for (const OutputProcess& process : plan.tracks.processes()) {
      const std::string pid = std::to_string(process.pid);
      rows_[{pid, ""}] = row++;
      for (const OutputTrack& track : process.tracks)
        rows_[{pid, std::to_string(track.tid)}] = row++;
      rank_of_row_.resize(row, process.rank);
    }
    const std::size_t files = plan.files.size();
    for (std::size_t file = 0; file < files; ++file) {
      const FilterFacts facts = std::exchange(plan.surveys[file].filter, {});
      binders_.push_back(filter_.reads(file) ? FlowBinder(places_of(file, facts)) : FlowBinder());
    }
    selection_.linked.resize(files);
    selection_.cuts.resize(files);
    selection_.events.resize(files);
    selection_.events_of_rank.resize(files);
  }

  // Must be called after all files have been read.
  Selection take_selection() {
    selection_.rows = kept_rows();
    selection_.cycles = cycles_.left_of(plan_.cycles);
    selection_.categories.assign(categories_.begin(), categories_.end());
    return std::move(selection_);
  }

  // If each process of a team has read some of the files: part() has what this one knows, and
  // add_part() takes what any of them does.
  SelectionPart part() const {
    SelectionPart part;
    for (std::size_t file = 0; file < selection_.events.size(); ++file)
      if (!selection_.events_of_rank[file].empty())
        part.files.push_back({file, selection_.events[file], selection_.events_of_rank[file]});
    part.rows = {kept_rows_.begin(), kept_rows_.end()};
    part.categories = categories_;
    part.cycles = cycles_;
    return part;
  }
  void add_part(SelectionPart part) {
    for (SelectionPart::File& file : part.files) {
      selection_.events[file.file] = file.events;
      selection_.events_of_rank[file.file] = std::move(file.events_of_rank);
    }
    kept_rows_.insert(part.rows.begin(), part.rows.end());
    if (categories_.size() < kMostCategories) categories_.merge(part.categories);
    cycles_.add(part.cycles);
  }

  Args wanted_args() const override { return Args::skip; }  // nothing is written here
  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<SelectionChunk>(); }

  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    SelectionChunk& chunk = static_cast<SelectionChunk&>(result);
    const EventTiming timing = time_event(event, chunk.problems);
    if (!timing.timed || (event.phase == 'C' && !has_counter_value(event))) return;
    const std::optional<OutputTime> time = output_time(timing, plan_.files[file].times);
    if (!time) return;
    const std::int64_t start_ns = time->start_ns;
    const TrackTarget* const target = chunk.tracks.find(plan_.tracks, file, event);
    if (target == nullptr) return;  // the file has changed: the writer will report it
    if (looks_at_categories_) chunk.note_category(event);
    chunk.last_ends.note(target->rank, time->end_ns);
    if (target != chunk.last_target) {
      chunk.last_target = target;
      chunk.last_row = row_of(*target);
    }
    const std::uint32_t row = chunk.last_row;
    if (plan_.files[file].lacks_durations) chunk.last_starts.note(target->number, start_ns);
    if (event.phase == 'E') {
      chunk.begin_ends.add(event, start_ns);
      chunk.payloads.push_back(kNoPayload);
      return;
    }
    const bool accepted = filter_.accepts(event, *target, *time, chunk.memory);
    if (event.phase == 'B') {
      chunk.begin_ends.add(event, start_ns);
      chunk.payloads.push_back(payload_of(row, accepted));
    } else if (is_linked_phase(event.phase)) {
      chunk.linked.add(event, start_ns, row, accepted, filter_.excludes(event, chunk.memory),
                       plan_.files[file].binds_next(event));
    } else if (event.phase == 'C' && !event.has(Key::tid)) {
      chunk.count(process_row(*target), accepted);
      if (accepted) note_time(start_ns, chunk.cycles);
    } else if (time->is_endless()) {
      chunk.endless.push_back({start_ns, target->number, row, accepted, time->slice_end});
    } else {
      chunk.count(row, accepted);
      if (accepted) note_time(start_ns, chunk.cycles);
      if (event.phase != 'X') return;
      if (target->has_begins) chunk.begin_ends.add_slice(event, start_ns, time->end_ns);
      const FlowSlice slice{start_ns, time->end_ns, row, accepted};
      if (binders_[file].touches(slice)) chunk.slices.push_back(slice);
    }
  }

  void take(ChunkResult& result, std::size_t file) override {
    SelectionChunk& chunk = static_cast<SelectionChunk&>(result);
    if (!current_) current_ = std::make_unique<CurrentFile>(*this, file);
    for (const auto& [row, counts] : chunk.rows) {
      if (counts.kept > 0) count(file, row, true, counts.kept);
      count(file, row, false, counts.filtered);
    }
    if (categories_.size() < kMostCategories) categories_.merge(chunk.categories);
    current_->last_ends.add(chunk.last_ends);
    cycles_.add(chunk.cycles);
    for (const FlowSlice& slice : chunk.slices) binders_[file].add(slice);
    current_->endless.insert(current_->endless.end(), chunk.endless.begin(), chunk.endless.end());
    current_->last_starts.add(chunk.last_starts);
    current_->linked.append(chunk.linked);
    if (!chunk.begin_ends.empty()) current_->pairer.take(chunk.begin_ends, chunk.payloads);
  }

  void end_file(std::size_t file, const FileEnd&) override {
    if (!current_) return;
    current_->pairer.finish();
    for (const EndlessFlowSlice& slice : current_->endless)
      add_slice(file, slice.row, slice.accepted, slice.start_ns,
                slice.slice_end == SliceEnd::never
                    ? current_->last_ends.of(rank_of_row_[slice.row], slice.start_ns)
                    : current_->last_starts.of(slice.track, slice.start_ns));
    binders_[file].finish();
    current_->linked.bind_flows(binders_[file]);
    current_->linked.settle();
    for (const LinkedEvent& event : current_->linked.events()) {
      selection_.linked[file].add(event.offset, event.kept);
      count(file, event.row, event.kept, 1);
      if (event.kept) note_time(event.ns, cycles_);
      if (event.is_cut) selection_.cuts[file].push_back({event.offset, event.phase});
    }
    selection_.linked[file].finish();
    std::ranges::sort(selection_.cuts[file], {}, &CutStep::offset);
    current_.reset();
  }

 private:
  // The facts gathered of the file that is being taken.
  struct CurrentFile {
    CurrentFile(SelectionVisitor& visitor, std::size_t file)
        : pairer({.pair =
                      [&visitor, file](const BeginEndPair& pair) {
                        visitor.add_slice(file, row_in(pair.begin_payload),
                                          is_accepted(pair.begin_payload), pair.start_ns,
                                          pair.end_ns);
                      },
                  .stray_end = {},
                  .open_begin = [&visitor, file](
                                    const OpenBegin& begin) { visitor.add_open(file, begin); }}) {
      if (visitor.plan_.files[file].matches_names) pairer.match_names();
    }

    BeginEndPairer pairer;
    LinkedEvents linked;
    std::vector<EndlessFlowSlice> endless;
    LastStarts last_starts;
    LastEnds last_ends;
  };

  // Returns the places of the flow events of a file as they are in the output.
  std::vector<FlowPlace> places_of(std::size_t file, const FilterFacts& facts) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < facts.tracks.size(); ++i) {
      const TrackTarget* const target = plan_.tracks.target(file, facts.tracks[i]);
      rows.push_back(target == nullptr ? kNoPayload : row_of(*target));
    }
    std::vector<FlowPlace> places;
    places.reserve(facts.places.size());
    for (const FlowPlace& place : facts.places) {
      FlowPlace moved{0, rows[place.row], place.binds_next};
      if (plan_.files[file].times.map(place.ns, moved.ns)) places.push_back(moved);
    }
    return places;
  }

  // Returns the row of a track; for a track without events of its own, the row of its process.
  std::uint32_t row_of(const TrackTarget& target) const {
    const auto found = rows_.find({target.pid, target.tid});
    return found == rows_.end() ? process_row(target) : found->second;
  }

  std::uint32_t process_row(const TrackTarget& target) const { return rows_.at({target.pid, ""}); }

  void count(std::size_t file, std::uint32_t row, bool kept, std::uint64_t events) {
    KeptCounts& of_file = selection_.events[file];
    KeptCounts& of_rank = selection_.events_of_rank[file][rank_of_row_[row]];
    (kept ? of_file.kept : of_file.filtered) += events;
    (kept ? of_rank.kept : of_rank.filtered) += events;
    if (kept) kept_rows_.insert(row);
  }

  // Notes the time of an event that stays.
  void note_time(std::int64_t output_ns, CycleTimes& cycles) const {
    cycles.add(plan_.cycles, saturating_add(output_ns, plan_.origin_ns));
  }

  // Gives the begin the same end as SliceJoiner does.
  void add_open(std::size_t file, const OpenBegin& begin) {
    const std::uint32_t row = row_in(begin.payload);
    const std::int64_t end_ns = begin.is_in_closed_slice()
                                    ? begin.around_end_ns
                                    : current_->last_ends.of(rank_of_row_[row], begin.start_ns);
    add_slice(file, row, is_accepted(begin.payload), begin.start_ns, end_ns);
  }

  void add_slice(std::size_t file, std::uint32_t row, bool accepted, std::int64_t start_ns,
                 std::int64_t end_ns) {
    const bool kept = accepted && filter_.is_long_enough(saturating_subtract(end_ns, start_ns));
    const FlowSlice slice{start_ns, end_ns, row, kept};
    if (binders_[file].touches(slice)) binders_[file].add(slice);
    count(file, row, kept, 1);
    if (kept) note_time(start_ns, cycles_);
  }

  std::vector<OutputProcess> kept_rows() const {
    std::vector<OutputProcess> processes;
    for (const OutputProcess& process : plan_.tracks.processes()) {
      const std::string pid = std::to_string(process.pid);
      const auto is_kept = [&](const std::string& tid) {
        return kept_rows_.contains(rows_.at({pid, tid}));
      };
      OutputProcess shown = process;
      std::erase_if(shown.tracks,
                    [&](const OutputTrack& track) { return !is_kept(std::to_string(track.tid)); });
      if (!shown.tracks.empty() || is_kept("")) processes.push_back(std::move(shown));
    }
    return processes;
  }

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
};

}  // namespace

Selection find_selection(MergePlan& plan, Team& team,
                         const std::function<void(FileVisitor&)>& scan) {
  SelectionVisitor visitor(plan);
  team.agree([&] { scan(visitor); });
  if (!team.is_alone())
    for (SelectionPart& part : share(team, visitor.part())) visitor.add_part(std::move(part));
  return visitor.take_selection();
}

}  // namespace traceloom
