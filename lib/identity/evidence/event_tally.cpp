#include "identity/evidence/event_tally.h"

#include "base/arithmetic.h"

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

#include <utility>

namespace traceloom {
namespace {

// FNV-1a: an output stores the hash, so it must be the same on every machine.
std::uint64_t hash_of_first(const Event& event) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const Key key : {Key::name, Key::pid, Key::tid}) {
    for (const char c : canonical_id(event.text(key)) + '\n') {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3U;
    }
  }
  return hash;
}

}  // namespace

std::uint64_t hash_of_id(std::string_view canonical_id) {
  return XXH3_64bits(canonical_id.data(), canonical_id.size());
}

void ThreadTallier::find(const Event& event, std::string_view pid, std::string_view tid) {
  const bool is_counter = event.phase == 'C' && tid.empty();
  if (all_.empty()) first_event_ = hash_of_first(event);
  last_pid_ = pid;
  last_tid_ = tid;
  scratch_.assign(pid).append(1, is_counter ? '\0' : '\n').append(tid);
  const std::uint32_t number = texts_.intern(scratch_);
  if (number == all_.size()) {
    const std::string process = canonical_id(pid);
    pid_sizes_.push_back(pid.size());
    ThreadTally& made = all_.emplace_back();
    made.id = hash_of_id(process + (is_counter ? '\0' : '\n') + canonical_id(tid));
    if (!is_counter) made.pid = hash_of_id(process);
    if (process.starts_with("\"[TP")) merged_ranks_.insert(process.substr(1, process.find(']')));
  }
  last_ = &all_[number];
}

EventTally ThreadTallier::sum() const {
  EventTally all{{}, first_event_};
  for (const ThreadTally& thread : all_) all.add(thread);
  return all;
}

void ThreadTallier::clear() {
  texts_.clear();
  pid_sizes_.clear();
  all_.clear();
  merged_ranks_.clear();
  first_event_ = 0;
  last_ = nullptr;
}

void ThreadTallies::append(const ThreadTallier& later) {
  for (const ThreadTally& thread : later.all()) {
    const auto place = std::ranges::lower_bound(all, thread.id, {}, &ThreadTally::id);
    if (place != all.end() && place->id == thread.id)
      place->add(thread);
    else if (all.size() < kMostThreads)
      all.insert(place, thread);
    else
      is_complete = false;
  }
  if (merged_ranks.size() < kMostThreads)
    merged_ranks.insert(later.merged_ranks().begin(), later.merged_ranks().end());
}

void StartTimes::Cell::add(const Cell& later) {
  if (later.events > 0)
    first_offset = events == 0 ? later.first_offset : std::min(first_offset, later.first_offset);
  events += later.events;
  first = std::min(first, later.first);
  last = std::max(last, later.last);
  first_end = std::min(first_end, later.first_end);
}

// Time 0 has a cell of its own, and no cell holds times of both kinds.
StartTimes::Cell StartTimes::empty_cell(std::int64_t ns, int shift) {
  Cell cell;
  if (ns == 0) return cell;
  const std::int64_t origin_ns = is_unix_time(ns) ? kFirstUnixNs : 0;
  const std::int64_t length_ns = std::int64_t{1} << shift;
  cell.begin_ns = origin_ns + ((ns - origin_ns) >> shift) * length_ns;
  cell.end_ns = saturating_add(cell.begin_ns, length_ns - 1);
  if (ns < 0 || is_unix_time(ns)) return cell;
  cell.begin_ns = std::max(cell.begin_ns, std::int64_t{1});
  cell.end_ns = std::min(cell.end_ns, kFirstUnixNs - 1);
  return cell;
}

StartTimes::Cell& StartTimes::find_cell(std::int64_t ns) {
  const Cell fresh = empty_cell(ns, shift_);
  auto at = std::ranges::lower_bound(cells_, fresh.begin_ns, {}, &Cell::begin_ns);
  if (at == cells_.end() || at->begin_ns != fresh.begin_ns) at = cells_.insert(at, fresh);
  last_cell_ = static_cast<std::size_t>(at - cells_.begin());
  if (cells_.size() <= kMostCells) return *at;
  while (cells_.size() > kMostCells) widen(shift_ + 1);
  return cell_of(ns);
}

void StartTimes::widen(int shift) {
  if (shift <= shift_) return;
  shift_ = shift;
  for (const Cell& old : std::exchange(cells_, {})) {
    if (cells_.empty() || cells_.back().end_ns < old.begin_ns)
      cells_.push_back(empty_cell(old.begin_ns, shift_));
    cells_.back().add(old);
  }
  last_cell_ = 0;
}

void StartTimes::add(const StartTimes& later) {
  is_trusted_ |= later.is_trusted_;
  is_zero_known_ |= later.is_zero_known_;
  widen(later.shift_);
  for (const Cell& cell : later.cells_) cell_of(cell.begin_ns).add(cell);
}

// The time line begins with a cell and extends as far as it can. Of two with equally many events,
// the one with near times is used.
FileBlock StartTimes::most() const {
  constexpr std::int64_t kFarNs = std::int64_t{1} << 62;  // 146 years
  FileBlock best;
  std::uint64_t most_events = 0;
  for (std::size_t begin = 0; begin < cells_.size(); ++begin) {
    const std::int64_t end_ns = saturating_add(cells_[begin].least(), kTimeLineNs);
    FileBlock line{begin, begin};
    while (line.end < cells_.size() && cells_[line.end].last <= end_ns) ++line.end;
    const std::uint64_t events = events_in(line);
    if (events < most_events || (events == most_events && cells_[begin].begin_ns >= kFarNs))
      continue;
    // A later begin of the same events would only drop ends.
    if (events > most_events || line.end > best.end) best = line;
    most_events = events;
  }
  return best;
}

// Returns the cells from `begin` on that no gap separates, and that are of one kind.
FileBlock StartTimes::group_at(std::size_t begin, std::size_t end) const {
  FileBlock group{begin, begin + 1};
  while (group.end < end && cells_[group.end].is_unix() == cells_[begin].is_unix() &&
         saturating_subtract(cells_[group.end].least(), cells_[group.end - 1].last) <
             kNoRunPausesNs)
    ++group.end;
  return group;
}

std::uint64_t StartTimes::events_in(const FileBlock& cells) const {
  std::uint64_t events = 0;
  for (std::size_t i = cells.begin; i < cells.end; ++i) events += cells_[i].events;
  return events;
}

// Drops 0 if it is the first time, but no time of a run.
void StartTimes::drop_zero(FileBlock& kept) const {
  if (kept.size() < 2 || !cells_[kept.begin].is_zero()) return;
  const FileBlock near = group_at(kept.begin + 1, kept.end);
  const std::int64_t first_ns = cells_[near.begin].least();
  const std::int64_t limit_ns = is_zero_known_ ? kNoRunPausesNs : kLongestWaitNs;
  if (cells_[kept.begin].events < events_in({near.begin, kept.end}) && first_ns >= limit_ns &&
      first_ns > saturating_subtract(cells_[near.end - 1].last, first_ns))
    ++kept.begin;
}

// Drops the times of the first kind (or of the last one) that are not in its largest group, if all
// of them together are few. A file of several runs has no such group, and keeps its times.
void StartTimes::drop_outliers(FileBlock& kept, bool is_unix) const {
  std::uint64_t all = 0;
  std::uint64_t most_events = 0;
  FileBlock crowd = kept;
  for (FileBlock group = kept; group.begin < kept.end; group.begin = group.end) {
    group = group_at(group.begin, kept.end);
    if (cells_[group.begin].is_unix() != is_unix) continue;
    const std::uint64_t events = events_in(group);
    all += events;
    if (events > most_events) crowd = group;
    most_events = std::max(most_events, events);
  }
  const std::uint64_t few = all - most_events;
  if (most_events <= few * (few == 1 ? 3 : 10)) return;
  if (cells_[kept.begin].is_unix() == is_unix) kept.begin = crowd.begin;
  if (cells_[kept.end - 1].is_unix() == is_unix) kept.end = crowd.end;
}

FileBlock StartTimes::judge() const {
  FileBlock kept = most();
  if (is_trusted_) return kept;
  drop_zero(kept);
  for (const bool is_unix : {false, true}) drop_outliers(kept, is_unix);
  drop_zero(kept);  // negative ones may have been before it
  return kept;
}

StartTimes::Range StartTimes::range_of(bool is_unix) const {
  const FileBlock cells = kept();
  Cell range;
  for (std::size_t i = cells.begin; i < cells.end; ++i)
    if (cells_[i].is_unix() == is_unix) range.add(cells_[i]);
  return range;
}

void StartTimes::count_outliers(ProblemCounts& problems) const {
  const FileBlock cells = kept();
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if ((i < cells.begin || i >= cells.end) && cells_[i].events > 0)
      count_outlier(cells_[i].first, cells_[i].first_offset, cells_[i].events, problems);
}

void StartTimes::count_outlier(std::int64_t ns, std::uint64_t offset_bytes, std::uint64_t events,
                               ProblemCounts& problems) {
  if (ns == 0)
    problems.add(Problem::bad_timestamp, offset_bytes, events, "0, far from all other times");
  else
    problems.add(Problem::outlying_timestamp, offset_bytes, events);
}

StartTimes::Range StartTimes::limits() const {
  using Limits = std::numeric_limits<std::int64_t>;
  const FileBlock cells = kept();
  return {cells.begin == 0 ? Limits::min() : cells_[cells.begin - 1].end_ns + 1,
          cells.end == cells_.size() ? Limits::max() : cells_[cells.end].begin_ns - 1, 0};
}

}  // namespace traceloom
