#include "analysis/launching_ranges.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace traceloom {
namespace {

constexpr std::size_t kNoRange = std::numeric_limits<std::size_t>::max();

// Outer ones first.
bool is_before(const LaunchingRange& a, const LaunchingRange& b) {
  return std::tuple(a.span.track, a.span.start_ns, b.span.end_ns) <
         std::tuple(b.span.track, b.span.start_ns, a.span.end_ns);
}

}  // namespace

LaunchingRanges::LaunchingRanges(const Run& run, const RankEvents& rank) : launches_(rank.parts) {
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::collective) ranges_.push_back({span, 0, span.end_ns});
  });
  std::stable_sort(ranges_.begin(), ranges_.end(), is_before);
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const MarkedSpan& span = ranges_[i].span;
    if (i > 0 && ranges_[i - 1].span.track == span.track)
      ranges_[i].latest_end_ns = std::max(span.end_ns, ranges_[i - 1].latest_end_ns);
    if (span.number > 0) externals_.add(run.tracks.file(span.track), span.number, span.start_ns, i);
  }
  externals_.sort();
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& piece : part.devices) {
      if (run.labels.kind(piece.label).role != Role::communication) continue;
      const std::size_t index = index_of(part, piece);
      if (index != kNoRange) ++ranges_[index].pieces;
    }
}

const LaunchingRange* LaunchingRanges::find(const EventColumns& part,
                                            const DeviceSpan& piece) const {
  const std::size_t index = index_of(part, piece);
  return index == kNoRange ? nullptr : &ranges_[index];
}

std::size_t LaunchingRanges::index_of(const EventColumns& part, const DeviceSpan& piece) const {
  const CallSpan* const call = launches_.find(part, piece);
  const std::size_t index = call == nullptr ? kNoRange : around(*call);
  if (index != kNoRange) return index;
  const std::size_t* const found =
      externals_.find(part.file, call == nullptr ? piece.external : call->external, piece.start_ns);
  return found == nullptr ? kNoRange : *found;
}

// The innermost one.
std::size_t LaunchingRanges::around(const CallSpan& call) const {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), call,
                                       [](const CallSpan& at, const LaunchingRange& range) {
                                         return std::tuple(at.track, at.start_ns) <
                                                std::tuple(range.span.track, range.span.start_ns);
                                       });
  for (auto range = behind; range != ranges_.begin();) {
    --range;
    if (range->span.track != call.track || range->latest_end_ns < call.end_ns) break;
    if (range->span.end_ns >= call.end_ns) return static_cast<std::size_t>(range - ranges_.begin());
  }
  return kNoRange;
}

}  // namespace traceloom
