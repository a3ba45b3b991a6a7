#include "merge/survey/linked_events.h"

#include "base/ascii.h"
#include "event/event_timing.h"
#include "merge/facts/file_survey.h"
#include "merge/facts/ids.h"
#include "merge/rows/track_plan.h"
#include "scan/begin_end.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
constexpr FlowSlice kNoSlice{0, 0, kNoRow, false};

bool is_none(const FlowSlice& slice) {
  return slice.row == kNoRow;
}

// True if viewers nest `a` inside `b`.
bool is_inner(const FlowSlice& a, const FlowSlice& b) {
  return std::tuple(a.start_ns, b.end_ns) > std::tuple(b.start_ns, a.end_ns);
}

// True if `a` begins before `b`, or at the same time and around it.
bool is_before(const FlowSlice& a, const FlowSlice& b) {
  return std::tuple(a.start_ns, b.end_ns) < std::tuple(b.start_ns, a.end_ns);
}

// Makes `best` the better one of two slices; either may be no slice.
template <typename Better>
void keep_better(FlowSlice& best, const FlowSlice& slice, Better is_better) {
  if (is_none(slice)) return;
  if (is_none(best) || is_better(slice, best))
    best = slice;
  else if (!is_better(best, slice))
    best.kept |= slice.kept;
}

signed char answer(const FlowSlice& slice) {
  return is_none(slice) ? -1 : slice.kept ? 1 : 0;
}

constexpr auto kByRowAndTime = [](const FlowPlace& a, const FlowPlace& b) {
  return std::tie(a.row, a.ns) < std::tie(b.row, b.ns);
};

void sort_unique(std::vector<FlowPlace>& places) {
  std::ranges::sort(places, kByRowAndTime);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places.shrink_to_fit();
}

}  // namespace

FlowBinder::FlowBinder(std::vector<FlowPlace> places) : places_(std::move(places)) {
  const auto waiting = std::stable_partition(
      places_.begin(), places_.end(), [](const FlowPlace& place) { return !place.binds_next; });
  waiting_.assign(waiting, places_.end());
  places_.erase(waiting, places_.end());
  sort_unique(places_);
  sort_unique(waiting_);
}

FlowBinder::Range FlowBinder::around(const FlowSlice& slice) const {
  const auto begin = std::lower_bound(places_.begin(), places_.end(),
                                      FlowPlace{slice.start_ns, slice.row, false}, kByRowAndTime);
  // Mostly no place is in the slice: then only the next place is looked at.
  const auto at = static_cast<std::size_t>(begin - places_.begin());
  if (begin == places_.end() || begin->row != slice.row || begin->ns > slice.end_ns)
    return {at, at};
  const auto end = std::upper_bound(begin, places_.end(), FlowPlace{slice.end_ns, slice.row, false},
                                    kByRowAndTime);
  return {at, static_cast<std::size_t>(end - places_.begin())};
}

// Returns the last place that waits for this slice.
std::optional<std::size_t> FlowBinder::last_waiting(const FlowSlice& slice) const {
  const auto behind = std::upper_bound(waiting_.begin(), waiting_.end(),
                                       FlowPlace{slice.start_ns, slice.row, true}, kByRowAndTime);
  if (behind == waiting_.begin() || std::prev(behind)->row != slice.row) return std::nullopt;
  return static_cast<std::size_t>(std::prev(behind) - waiting_.begin());
}

bool FlowBinder::touches(const FlowSlice& slice) const {
  const Range range = around(slice);
  return range.begin < range.end || last_waiting(slice);
}

void FlowBinder::add(const FlowSlice& slice) {
  if (innermost_.empty() && next_.empty()) {
    innermost_.assign(2 * places_.size(), kNoSlice);
    next_.assign(waiting_.size(), kNoSlice);
  }
  const auto put_inner = [&](std::size_t node) { keep_better(innermost_[node], slice, is_inner); };
  const Range range = around(slice);
  std::size_t begin = range.begin + places_.size();
  std::size_t end = range.end + places_.size();
  for (; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) put_inner(begin++);
    if (end % 2 == 1) put_inner(--end);
  }
  if (const std::optional<std::size_t> last = last_waiting(slice))
    keep_better(next_[*last], slice, is_before);
}

void FlowBinder::finish() {
  answers_.clear();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    FlowSlice found = kNoSlice;
    if (!innermost_.empty())
      for (std::size_t node = i + places_.size(); node > 0; node /= 2)
        keep_better(found, innermost_[node], is_inner);
    answers_.push_back(answer(found));
  }
  answers_.resize(places_.size() + waiting_.size(), -1);
  // A slice was kept at the last place that waited for it; the places before that wait for it as
  // well.
  for (std::size_t i = next_.size(); i-- > 0;) {
    if (i + 1 < next_.size() && waiting_[i + 1].row == waiting_[i].row)
      keep_better(next_[i], next_[i + 1], is_before);
    answers_[places_.size() + i] = answer(next_[i]);
  }
  std::vector<FlowSlice>().swap(innermost_);
  std::vector<FlowSlice>().swap(next_);
}

std::optional<bool> FlowBinder::kept_at(const FlowPlace& place) const {
  const std::vector<FlowPlace>& places = place.binds_next ? waiting_ : places_;
  const auto found = std::lower_bound(places.begin(), places.end(), place, kByRowAndTime);
  if (found == places.end() || *found != place) return std::nullopt;
  const std::size_t before = place.binds_next ? places_.size() : 0;
  const signed char kept = answers_[before + static_cast<std::size_t>(found - places.begin())];
  return kept < 0 ? std::nullopt : std::optional(kept == 1);
}

namespace {

constexpr std::uint64_t kOddId = std::uint64_t{1} << 63;

bool is_same_group(const LinkedEvent& a, const LinkedEvent& b) {
  return a.label == b.label && a.id == b.id;
}

// Orders flows and async operations one after the other, each by time. Events of one moment stay as
// the file has them: an arrow may end where the next one of its id begins.
bool is_ordered(const LinkedEvent& a, const LinkedEvent& b) {
  return std::tie(a.label, a.id, a.ns, a.offset) < std::tie(b.label, b.id, b.ns, b.offset);
}

using Iterator = std::vector<LinkedEvent>::iterator;

// Returns whether an arrow goes from `a` to `b`, the next event of its id.
bool leads_to(const LinkedEvent& a, const LinkedEvent& b) {
  return a.phase != 'f' && b.phase != 's';
}

// Settles arrows that follow each other. An arrow stays if the events at both its ends do, and an
// event stays with one of its arrows. A step that loses one of its two arrows begins or ends the
// other.
void settle_chain(Iterator begin, Iterator end) {
  LinkedEvent before = *begin;
  for (Iterator event = begin; event != end; ++event) {
    const LinkedEvent now = *event;
    const Iterator next = std::next(event);
    const bool has_in = event != begin && leads_to(before, now);
    const bool has_out = next != end && leads_to(now, *next);
    const bool keeps_in = has_in && before.kept && now.kept;
    const bool keeps_out = has_out && next->kept && now.kept;
    if (has_in || has_out) event->kept = keeps_in || keeps_out;
    event->is_cut = has_in && has_out && keeps_in != keeps_out;
    if (event->is_cut) event->phase = keeps_in ? 'f' : 's';
    before = now;
  }
}

// Settles the events of one arrow, of an arrow that forks, or of a chain. If it has a start and
// another end, both have to stay. (Profilers write many arrows that lack one of them.)
void settle_arrow(Iterator begin, Iterator end) {
  const auto has = [&](bool start, bool kept) {
    return std::any_of(begin, end, [&](const LinkedEvent& event) {
      return (event.phase == 's') == start && (event.kept || !kept);
    });
  };
  const bool is_whole = has(true, false) && has(false, false);
  if (!is_whole) return;
  const auto is_step = [](const LinkedEvent& event) { return event.phase == 't'; };
  if (std::any_of(begin, end, is_step)) return settle_chain(begin, end);
  if (has(true, true) && has(false, true)) return;
  for (Iterator event = begin; event != end; ++event) event->kept = false;
}

// Settles all flow events of one id. It may be used again and again: each start begins another
// arrow. (An end before the first start is assumed to belong to it: the clock of a GPU is not that
// of its host.)
void settle_flows(Iterator begin, Iterator end) {
  const auto is_start = [](const LinkedEvent& event) { return event.phase == 's'; };
  Iterator first = std::find_if(begin, end, is_start);
  if (first != end) ++first;
  while (true) {
    const Iterator next = std::find_if(first, end, is_start);
    settle_arrow(begin, next);
    if (next == end) return;
    begin = next;
    first = next + 1;
  }
}

// The open operations of one id, by name.
class OpenOperations {
 public:
  void open(Iterator event) {
    by_name_[event->name].push_back(order_.size());
    order_.push_back({event, true});
  }
  // Returns the innermost operation of that name, or of any name if `name` is kNoText; nullptr if
  // there is none.
  const LinkedEvent* find(std::uint32_t name) {
    if (name != kNoText) {
      const auto found = by_name_.find(name);
      return found == by_name_.end() || found->second.empty()
                 ? nullptr
                 : &*order_[found->second.back()].event;
    }
    while (!order_.empty() && !order_.back().is_open) order_.pop_back();
    return order_.empty() ? nullptr : &*order_.back().event;
  }
  // Closes the operation that find() has found.
  void close(std::uint32_t name) {
    while (!order_.empty() && !order_.back().is_open) order_.pop_back();
    std::vector<std::size_t>& same = by_name_[name == kNoText ? order_.back().event->name : name];
    order_[same.back()].is_open = false;
    same.pop_back();
  }

 private:
  struct Operation {
    Iterator event;
    bool is_open;
  };
  std::vector<Operation> order_;
  std::map<std::uint32_t, std::vector<std::size_t>> by_name_;
};

// Settles all async events of one id.
void settle_operations(Iterator begin, Iterator end) {
  OpenOperations open;
  for (Iterator event = begin; event != end; ++event) {
    if (event->phase == 'b' || event->phase == 'S') {
      open.open(event);
    } else if (const LinkedEvent* const start = open.find(event->name)) {
      event->kept = start->kept;
      if (event->phase == 'e' || event->phase == 'F') open.close(event->name);
    }
  }
}

}  // namespace

std::uint32_t LinkedEvents::text(std::string_view first, std::string_view second, char kind) {
  scratch_.assign(1, kind);
  scratch_.append(first);
  scratch_ += '\0';
  scratch_.append(second);
  return texts_.intern(scratch_);
}

std::uint64_t LinkedEvents::id(std::string_view key) {
  const auto number = whole_number<std::uint64_t>(key);
  return number && *number < kOddId ? *number : kOddId | odd_ids_.intern(key);
}

void LinkedEvents::add(const Event& event, std::int64_t ns, std::uint32_t row, bool kept,
                       bool excluded, bool binds_next) {
  LinkedEvent linked;
  linked.ns = ns;
  linked.offset = event.offset;
  linked.row = row;
  linked.phase = event.phase;
  linked.excluded = excluded;
  linked.kept = kept;
  linked.name = kNoText;
  if (is_flow_phase(event.phase)) {
    linked.binds_next = binds_next;
    linked.label = text(flow_category(event), string_or_nothing(event.text(Key::name)), 'f');
    linked.id = id(id_key(event.text(Key::id), id_scratch_));
  } else {
    const bool is_nestable = event.phase == 'b' || event.phase == 'e';
    linked.label = is_nestable ? text(event.text(Key::cat), event.text(Key::scope), 'n')
                               : text(event.text(Key::name), event.text(Key::scope), 'l');
    if (is_nestable && event.has(Key::name)) linked.name = text(event.text(Key::name), {}, 'm');
    linked.id = id(async_id_key(event, id_scratch_));
  }
  events_.push_back(linked);
}

void LinkedEvents::append(const LinkedEvents& later) {
  std::vector<std::uint32_t> texts;
  for (std::uint32_t i = 0; i < later.texts_.size(); ++i)
    texts.push_back(texts_.intern(later.texts_[i]));
  std::vector<std::uint64_t> ids;
  for (std::uint32_t i = 0; i < later.odd_ids_.size(); ++i)
    ids.push_back(kOddId | odd_ids_.intern(later.odd_ids_[i]));
  for (LinkedEvent event : later.events_) {
    event.label = texts[event.label];
    if (event.name != kNoText) event.name = texts[event.name];
    if ((event.id & kOddId) != 0) event.id = ids[event.id & ~kOddId];
    events_.push_back(event);
  }
}

void LinkedEvents::clear() {
  events_.clear();
  texts_.clear();
  odd_ids_.clear();
}

void LinkedEvents::bind_flows(const FlowBinder& binder) {
  for (LinkedEvent& event : events_) {
    if (!is_flow_phase(event.phase)) continue;
    const std::optional<bool> kept = binder.kept_at({event.ns, event.row, event.binds_next});
    if (kept) event.kept = *kept && !event.excluded;
  }
}

void LinkedEvents::settle() {
  std::ranges::sort(events_, is_ordered);
  for (Iterator begin = events_.begin(); begin != events_.end();) {
    const Iterator end = std::find_if(begin, events_.end(), [&](const LinkedEvent& event) {
      return !is_same_group(*begin, event);
    });
    if (is_flow_phase(begin->phase))
      settle_flows(begin, end);
    else
      settle_operations(begin, end);
    begin = end;
  }
}

namespace {

// True for events that Perfetto makes a slice of the thread of. These include instants, except
// those of a process or of the whole trace.
bool begins_slice(const Event& event) {
  if (event.phase == 'X' || event.phase == 'B') return true;
  const bool is_instant = event.phase == 'i' || event.phase == 'I' || event.phase == 'R';
  const std::string_view scope = event.text(Key::s);
  return is_instant && scope != "\"p\"" && scope != "\"g\"";
}

struct FlowStart {
  std::uint64_t flow;  // FlowLabel::hash() plus the number of its id
  std::int64_t ns;
  std::uint32_t row;  // TrackTarget::number
};
struct FlowStop {
  std::uint64_t flow;
  std::int64_t ns;
  std::uint64_t offset;
};

// Slices, starts and ends found in a chunk, or in a file.
struct FoundFlows {
  std::unordered_map<std::uint32_t, std::int64_t> first_slice_ns;  // key: row
  std::vector<FlowStart> starts;
  std::vector<FlowStop> ends;

  void add_slice(std::uint32_t row, std::int64_t ns) {
    std::int64_t& first_ns = first_slice_ns.try_emplace(row, ns).first->second;
    first_ns = std::min(first_ns, ns);
  }
};

class FlowStarts : public FileVisitor {
 public:
  explicit FlowStarts(const MergePlan& plan) : plan_(plan), startless_(plan.files.size()) {}

  std::vector<std::vector<std::uint64_t>> take_startless() { return std::move(startless_); }

  Args wanted_args() const override { return Args::skip; }  // nothing is written here
  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<Chunk>(); }

  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    const bool is_slice = begins_slice(event);
    Chunk& chunk = static_cast<Chunk&>(result);
    const TrackTarget* const target = chunk.tracks.find(plan_.tracks, file, event);
    if (target == nullptr || (!is_slice && event.phase != 's' && event.phase != 'f')) return;
    const EventTiming timing = time_start(event, chunk.problems);
    std::int64_t ns = 0;
    if (!timing.timed || !plan_.files[file].times.map(timing.start_ns, ns)) return;
    if (is_slice) return chunk.found.add_slice(target->number, ns);
    const bool waits = binds_to_next_slice(event);
    if ((event.phase == 'f' && !waits) || is_shared_flow(event, plan_.files[file].shared_flows))
      return;
    const std::string_view id = flow_id_key(event, chunk.scratch);
    if (id.empty()) return;  // viewers draw no arrow for it
    const std::uint64_t flow = chunk.flow_label.hash(event) + plan_.files[file].flow_ids.number(id);
    if (waits)
      chunk.found.ends.push_back({flow, ns, event.offset});
    else
      chunk.found.starts.push_back({flow, ns, target->number});
  }

  void take(ChunkResult& result, std::size_t) override {
    const FoundFlows& found = static_cast<Chunk&>(result).found;
    for (const auto& [row, ns] : found.first_slice_ns) file_.add_slice(row, ns);
    file_.starts.insert(file_.starts.end(), found.starts.begin(), found.starts.end());
    file_.ends.insert(file_.ends.end(), found.ends.begin(), found.ends.end());
  }

  void end_file(std::size_t file, const FileEnd&) override {
    std::unordered_map<std::uint64_t, std::int64_t> first_start_ns;
    for (const FlowStart& start : file_.starts) {
      const auto slice = file_.first_slice_ns.find(start.row);
      if (slice == file_.first_slice_ns.end() || slice->second > start.ns) continue;
      const auto [known, is_new] = first_start_ns.try_emplace(start.flow, start.ns);
      known->second = std::min(known->second, start.ns);
    }
    for (const FlowStop& end : file_.ends) {
      const auto start = first_start_ns.find(end.flow);
      if (start == first_start_ns.end() || start->second > end.ns)
        startless_[file].push_back(end.offset);
    }
    file_ = {};
  }

 private:
  struct Chunk : ChunkResult {
    FoundFlows found;
    TrackCache tracks;
    FlowLabel flow_label;
    std::string scratch;

    bool reset() override {
      found = {};
      tracks.reset();
      problems = {};
      return true;
    }
  };

  const MergePlan& plan_;
  FoundFlows file_;  // those of the file that is being read
  std::vector<std::vector<std::uint64_t>> startless_;
};

}  // namespace

std::vector<std::vector<std::uint64_t>> find_startless_ends(
    const MergePlan& plan, const std::function<void(FileVisitor&)>& scan) {
  FlowStarts starts(plan);
  scan(starts);
  return starts.take_startless();
}

}  // namespace traceloom
