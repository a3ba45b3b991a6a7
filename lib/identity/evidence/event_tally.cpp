#include "identity/evidence/event_tally.h"

#include "base/arithmetic.h"

#include <utility>

namespace traceloom {

namespace {

constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63;
constexpr int kStretchShift = 48;  // two stretches begin further apart

}  // namespace

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

// True if the cell and the next one are of different kinds, or if there is a gap between them.
bool StartTimes::are_apart(std::size_t earlier) const {
  const Cell& a = cells_[earlier];
  const Cell& b = cells_[earlier + 1];
  const std::int64_t gap_ns = saturating_subtract(b.least(), a.last);
  return a.is_unix() != b.is_unix() ||
         gap_ns >= (a.is_zero() || b.is_zero() ? kLongestWaitNs : kNoRunPausesNs);
}

std::uint64_t StartTimes::events_in(const FileBlock& cells) const {
  std::uint64_t events = 0;
  for (std::size_t i = cells.begin; i < cells.end; ++i) events += cells_[i].events;
  return events;
}

// Judges the times before or after a gap by those on the other side of it.
bool StartTimes::are_outliers(const FileBlock& few, const FileBlock& near,
                              std::uint64_t all) const {
  const Cell& near_first = cells_[near.begin];
  const Cell& near_last = cells_[near.end - 1];
  const std::int64_t gap_ns =
      few.begin < near.begin ? saturating_subtract(near_first.least(), cells_[few.end - 1].last)
                             : saturating_subtract(cells_[few.begin].least(), near_last.last);
  const std::uint64_t events = events_in(few);
  if (few.size() == 1 && cells_[few.begin].is_zero())
    return events < all - events && gap_ns >= kLongestWaitNs &&
           gap_ns > saturating_subtract(near_last.last, near_first.least());
  return 3 * events < all - events && gap_ns >= kNoRunPausesNs &&
         cells_[few.begin].is_unix() == near_first.is_unix();
}

FileBlock StartTimes::judge() const {
  FileBlock kept = most();
  const auto end_of = [&](std::size_t begin) {
    while (begin + 1 < kept.end && !are_apart(begin)) ++begin;
    return begin + 1;
  };
  const auto begin_of = [&](std::size_t end) {
    while (end - 1 > kept.begin && !are_apart(end - 2)) --end;
    return end - 1;
  };
  while (!is_trusted_ && kept.size() > 1) {
    const std::uint64_t all = events_in(kept);
    const FileBlock low{kept.begin, end_of(kept.begin)};
    if (low.end == kept.end) break;
    const FileBlock high{begin_of(kept.end), kept.end};
    if (are_outliers(low, {low.end, end_of(low.end)}, all))
      kept.begin = low.end;
    else if (are_outliers(high, {begin_of(high.begin), high.begin}, all))
      kept.end = high.begin;
    else
      break;
  }
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
  const Problem problem = ns == 0 ? Problem::bad_timestamp : Problem::outlying_timestamp;
  problems.add(problem, offset_bytes, events);
  if (ns == 0) problems.explain(problem, "0, far from all other times");
}

std::uint64_t StartTimes::stretch(std::int64_t ns) {
  if (ns == 0) return 0;
  const std::int64_t begin_ns = empty_cell(ns, StartTimes().shift_).begin_ns;
  return 1 + ((static_cast<std::uint64_t>(begin_ns) + kMiddle) >> kStretchShift);
}

std::int64_t StartTimes::time_in(std::uint64_t stretch) {
  return stretch == 0 ? 0 : static_cast<std::int64_t>((stretch << kStretchShift) - 1 - kMiddle);
}

StartTimes::Range StartTimes::limits() const {
  using Limits = std::numeric_limits<std::int64_t>;
  const FileBlock cells = kept();
  return {cells.begin == 0 ? Limits::min() : cells_[cells.begin - 1].end_ns + 1,
          cells.end == cells_.size() ? Limits::max() : cells_[cells.end].begin_ns - 1, 0};
}

}  // namespace traceloom
