#include "scan/begin_end.h"

#include "base/arithmetic.h"
#include "event/event_timing.h"

#include <algorithm>
#include <queue>

namespace traceloom {

void SlicesAround::add(std::int64_t start_ns, std::int64_t end_ns) {
  slices_.push_back({start_ns, end_ns});
  latest_ns_ = std::max(latest_ns_, start_ns);
}

std::vector<std::int64_t> SlicesAround::first_ends(const std::vector<std::int64_t>& moments) const {
  std::vector<Slice> by_start = slices_;
  std::ranges::sort(by_start, {}, &Slice::start_ns);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> open_ends;
  std::vector<std::int64_t> ends;
  ends.reserve(moments.size());
  auto next = by_start.begin();
  for (const std::int64_t moment : moments) {
    for (; next != by_start.end() && next->start_ns < moment; ++next) open_ends.push(next->end_ns);
    while (!open_ends.empty() && open_ends.top() <= moment) open_ends.pop();
    ends.push_back(open_ends.empty() ? kNever : open_ends.top());
  }
  return ends;
}

void SlicesAround::drop_passed(const std::vector<std::int64_t>& moments) {
  const auto older_end = slices_.begin() + static_cast<std::ptrdiff_t>(slices_.size() / 2);
  const auto is_passed = [&](const Slice& slice) {
    const auto inside = std::ranges::upper_bound(moments, slice.start_ns);
    return slice.end_ns <= latest_ns_ && (inside == moments.end() || *inside >= slice.end_ns);
  };
  slices_.erase(std::remove_if(slices_.begin(), older_end, is_passed), older_end);
}

namespace {

// Separates pid and tid. Both are whole JSON values, so no two pairs give the same text.
constexpr char kTrackSeparator = '\n';

constexpr auto kByTime = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };

// Returns a unique text for a pid and tid, whatever characters they hold.
std::string track_name(std::string_view pid, std::string_view tid) {
  return std::to_string(pid.size()).append(":").append(pid).append(tid);
}

}  // namespace

std::int64_t BeginEndPair::duration_ns() const {
  return saturating_subtract(end_ns, start_ns);
}

void BeginEndBatch::add(const Event& event, std::int64_t start_ns) {
  Record record{start_ns,           event.offset,       0, kNoText, kNoText, kNoPayload,
                event.phase == 'E', is_cut_slice(event)};
  record.track = track_of(event);
  if (const std::string_view name = event.text(Key::name); is_json_string(name))
    record.name = texts_.intern(name);
  if (const std::string_view category = event.text(Key::cat);
      !record.is_end && is_json_string(category))
    record.category = texts_.intern(category);
  records_.push_back(record);
}

void BeginEndBatch::add_slice(const Event& event, std::int64_t start_ns, std::int64_t end_ns) {
  slices_.push_back({start_ns, end_ns, track_of(event)});
}

std::uint32_t BeginEndBatch::track_of(const Event& event) {
  const std::string_view pid = event.text(Key::pid);
  scratch_.assign(pid.data(), pid.size());
  scratch_ += kTrackSeparator;
  const std::string_view tid = event.text(Key::tid);
  scratch_.append(tid.data(), tid.size());
  const std::uint32_t track = tracks_.intern(scratch_);
  if (track == pid_sizes_.size()) pid_sizes_.push_back(pid.size());
  return track;
}

void BeginEndBatch::clear() {
  records_.clear();
  slices_.clear();
  texts_.clear();
  tracks_.clear();
  pid_sizes_.clear();
}

void BeginEndPairer::take(const BeginEndBatch& batch, const std::vector<std::uint32_t>& payloads) {
  const std::vector<std::uint32_t> texts = number_texts(batch);
  const std::vector<std::uint32_t> tracks = number_tracks(batch);
  for (std::size_t i = 0; i < batch.records_.size(); ++i) {
    Record record = batch.records_[i];
    if (!payloads.empty()) record.payload = payloads[i];
    record.track = tracks[record.track];
    if (record.name != kNoText) record.name = texts[record.name];
    if (record.category != kNoText) record.category = texts[record.category];
    if (record.start_ns < tracks_[record.track].released_ns)
      problems_.add(Problem::out_of_order, record.offset);
    waiting_sorted_ &= waiting_.empty() || waiting_.back().start_ns <= record.start_ns;
    waiting_.push_back(record);
    if (waiting_.size() >= reorder_records_) release((waiting_.size() + 1) / 2);
  }
  take_slices(batch, tracks);
}

void BeginEndPairer::take_slices(const BeginEndBatch& batch,
                                 const std::vector<std::uint32_t>& tracks) {
  for (const BeginEndBatch::Slice& slice : batch.slices_)
    tracks_[tracks[slice.track]].slices.add(slice.start_ns, slice.end_ns);
  held_slices_ += batch.slices_.size();
  if (held_slices_ < most_slices_) return;
  end_inside_slices();
  const std::vector<std::vector<std::int64_t>> waiting = waiting_begins();
  held_slices_ = 0;
  for (std::size_t track = 0; track < tracks_.size(); ++track) {
    tracks_[track].slices.drop_passed(waiting[track]);
    held_slices_ += tracks_[track].slices.size();
  }
  most_slices_ = std::max(reorder_records_, 2 * held_slices_);
}

// Returns for each track the times of its waiting B events, ascending.
std::vector<std::vector<std::int64_t>> BeginEndPairer::waiting_begins() const {
  std::vector<std::vector<std::int64_t>> begins(tracks_.size());
  for (const Record& record : waiting_)
    if (!record.is_end) begins[record.track].push_back(record.start_ns);
  for (std::vector<std::int64_t>& times : begins) std::ranges::sort(times);
  return begins;
}

void BeginEndPairer::end_inside_slices() {
  for (Track& track : tracks_)
    if (track.slices.size() > 0 && track.innermost != kNone) end_inside_slices(track);
}

// A B inside of an X ends with the X unless it is closed itself.
void BeginEndPairer::end_inside_slices(Track& track) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = track.innermost; i != kNone; i = open_[i].outer) open.push_back(i);
  const auto start_of = [&](std::uint32_t i) { return open_[i].begin.start_ns; };
  std::ranges::sort(open, {}, start_of);
  std::vector<std::int64_t> starts;
  starts.reserve(open.size());
  for (const std::uint32_t i : open) starts.push_back(start_of(i));
  const std::vector<std::int64_t> ends = track.slices.first_ends(starts);
  for (std::size_t i = 0; i < open.size(); ++i)
    open_[open[i]].around_end_ns = std::min(open_[open[i]].around_end_ns, ends[i]);
}

// Returns the pairer's number of each text of a batch. Escapes are decoded once a file, not once a
// batch.
std::vector<std::uint32_t> BeginEndPairer::number_texts(const BeginEndBatch& batch) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < batch.texts_.size(); ++i) {
    const std::string_view raw = batch.texts_[i];
    const std::uint32_t raw_number = raw_texts_.intern(raw);
    if (raw_number == text_of_raw_.size()) text_of_raw_.push_back(texts_.intern(decoded(raw)));
    numbers.push_back(text_of_raw_[raw_number]);
  }
  return numbers;
}

std::vector<std::uint32_t> BeginEndPairer::number_tracks(const BeginEndBatch& batch) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < batch.tracks_.size(); ++i) {
    const std::string_view raw = batch.tracks_[i];
    const std::uint32_t raw_number = raw_tracks_.intern(raw);
    if (raw_number == track_of_raw_.size()) {
      const std::size_t pid_size = batch.pid_sizes_[i];
      Track track{canonical_id(raw.substr(0, pid_size)), canonical_id(raw.substr(pid_size + 1))};
      const std::uint32_t number = track_names_.intern(track_name(track.pid, track.tid));
      if (number == tracks_.size()) tracks_.push_back(std::move(track));
      track_of_raw_.push_back(number);
    }
    numbers.push_back(track_of_raw_[raw_number]);
  }
  return numbers;
}

void BeginEndPairer::finish() {
  release(waiting_.size());
  end_inside_slices();
  for (const Track& track : tracks_) {
    std::uint32_t outermost = track.innermost;
    while (outermost != kNone && open_[outermost].outer != kNone)
      outermost = open_[outermost].outer;
    for (std::uint32_t i = outermost; i != kNone; i = open_[i].inner) {
      const Record& begin = open_[i].begin;
      problems_.add(Problem::begin_without_end, begin.offset);
      if (handlers_.open_begin)
        handlers_.open_begin({begin.start_ns, begin.offset, begin.payload, open_[i].around_end_ns});
    }
  }
}

// Pairs the `count` oldest of the waiting records.
void BeginEndPairer::release(std::size_t count) {
  if (!waiting_sorted_) std::ranges::stable_sort(waiting_, kByTime);
  waiting_sorted_ = true;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t& released_ns = tracks_[waiting_[i].track].released_ns;
    released_ns = std::max(released_ns, waiting_[i].start_ns);
    if (waiting_[i].is_end) {
      close(waiting_[i]);
    } else {
      add_open(waiting_[i]);
    }
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

// Returns the chain of open B's with the record's track and name.
std::uint32_t BeginEndPairer::chain_of(const Record& record) {
  const std::uint32_t chain = chain_names_.intern(NumberPair(record.track, record.name).bytes());
  if (chain == chains_.size()) chains_.push_back(kNone);
  return chain;
}

void BeginEndPairer::add_open(const Record& begin) {
  std::uint32_t index = static_cast<std::uint32_t>(open_.size());
  if (free_.empty()) {
    open_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Track& track = tracks_[begin.track];
  const std::uint32_t chain = chain_of(begin);
  open_[index] = {.begin = begin,
                  .number = begun_++,
                  .around_end_ns = OpenBegin::kNeverEnds,
                  .outer_bare = track.innermost_bare,
                  .outer = track.innermost,
                  .inner = kNone,
                  .same_name = chains_[chain],
                  .chain = chain};
  if (track.innermost != kNone) open_[track.innermost].inner = index;
  track.innermost = index;
  track.innermost_bare = index;
  chains_[chain] = index;
}

// Returns the index in open_ of the B that `end` closes.
std::uint32_t BeginEndPairer::begin_of(const Record& end) {
  if (end.name != kNoText) {
    const std::uint32_t of_name = chains_[chain_of(end)];
    if (of_name != kNone || matches_names_) return of_name;
  }
  return tracks_[end.track].innermost;
}

void BeginEndPairer::close(const Record& end) {
  const std::uint32_t index = begin_of(end);
  // An E that is older than the B it would close came too late to be sorted.
  if (index == kNone || open_[index].begin.start_ns > end.start_ns) {
    problems_.add(Problem::end_without_begin, end.offset);
    if (handlers_.stray_end) handlers_.stray_end(end.payload);
    return;
  }
  const Record& begin = open_[index].begin;
  if (handlers_.pair)
    handlers_.pair({begin.track, begin.name, begin.category, begin.start_ns, end.start_ns,
                    begin.offset, end.offset, begin.payload, end.payload,
                    same_start_outer(open_[index]), end.is_cut});
  end_inside(open_[index], end.start_ns);
  unlink(index);
}

// An open B inside of the closed slice ends with that slice, unless it already ends with an earlier
// one or is closed itself later. Each such B leaves the chain of bare B's, so that it is visited
// once.
void BeginEndPairer::end_inside(const Open& closed, std::int64_t end_ns) {
  std::uint32_t& innermost = tracks_[closed.begin.track].innermost_bare;
  while (innermost != kNone && open_[innermost].number >= closed.number) {
    Open& inside = open_[innermost];
    // A B that came too late to be sorted may begin after the end.
    if (inside.number > closed.number)
      inside.around_end_ns =
          std::min(inside.around_end_ns, std::max(end_ns, inside.begin.start_ns));
    innermost = inside.outer_bare;
  }
}

std::uint32_t BeginEndPairer::same_start_outer(const Open& open) const {
  if (open.outer == kNone || open_[open.outer].begin.start_ns != open.begin.start_ns)
    return kNoPayload;
  return open_[open.outer].begin.payload;
}

// Takes an open B out of both chains. The B is the innermost of its name: closing by name takes
// that one, and the innermost B of a track is also the innermost of its name.
void BeginEndPairer::unlink(std::uint32_t index) {
  const Open& closed = open_[index];
  if (closed.inner == kNone) {
    tracks_[closed.begin.track].innermost = closed.outer;
  } else {
    open_[closed.inner].outer = closed.outer;
  }
  if (closed.outer != kNone) open_[closed.outer].inner = closed.inner;
  chains_[closed.chain] = closed.same_name;
  free_.push_back(index);
}

}  // namespace traceloom
