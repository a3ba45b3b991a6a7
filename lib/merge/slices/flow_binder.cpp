#include "merge/slices/flow_binder.h"

#include <algorithm>
#include <limits>
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

}  // namespace traceloom
