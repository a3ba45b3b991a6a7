#include "analysis/work/launching_ranges.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace traceloom {
namespace {

constexpr std::size_t kNoRange = std::numeric_limits<std::size_t>::max();

// Sorts outer ranges first.
bool is_before(const LaunchingRange& a, const LaunchingRange& b) {
  return std::tuple(a.span.track, a.span.start_ns, b.span.end_ns) <
         std::tuple(b.span.track, b.span.start_ns, a.span.end_ns);
}

}  // namespace

LaunchingRanges::LaunchingRanges(const Run& run, const RankEvents& rank)
    : launches_(rank.own_parts()) {
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (is_of_collective(span.mark)) ranges_.push_back({span, 0, span.end_ns});
  });
  std::stable_sort(ranges_.begin(), ranges_.end(), is_before);
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const MarkedSpan& span = ranges_[i].span;
    if (i > 0 && ranges_[i - 1].span.track == span.track)
      ranges_[i].latest_end_ns = std::max(span.end_ns, ranges_[i - 1].latest_end_ns);
    if (span.number > 0) externals_.add(run.tracks.file(span.track), span.number, span.start_ns, i);
  }
  externals_.sort();
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& piece : part.devices) {
      if (run.labels.kind(piece.label).role != Role::communication) continue;
      const Found found = indices_of(part, piece);
      if (found.range != kNoRange) ++ranges_[found.range].pieces;
      if (found.op != kNoRange) ++ranges_[found.op].pieces;
    }
}

LaunchedBy LaunchingRanges::find(const EventColumns& part, const DeviceSpan& piece) const {
  const Found found = indices_of(part, piece);
  const auto at = [&](std::size_t index) { return index == kNoRange ? nullptr : &ranges_[index]; };
  return {at(found.range), at(found.op)};
}

LaunchingRanges::Found LaunchingRanges::indices_of(const EventColumns& part,
                                                   const DeviceSpan& piece) const {
  Found found{kNoRange, kNoRange};
  const CallSpan* const call = launches_.find(part, piece);
  if (call != nullptr) add_around(*call, found);
  if (found.range != kNoRange) return found;
  const std::size_t* const named =
      externals_.find(part.file, call == nullptr ? piece.external : call->external, piece.start_ns);
  if (named != nullptr) add_around(ranges_[*named].span, found);
  return found;
}

// Notes the innermost ranges around the span; the span itself may be one.
void LaunchingRanges::add_around(const HostSpan& span, Found& found) const {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), span,
                                       [](const HostSpan& at, const LaunchingRange& range) {
                                         return std::tuple(at.track, at.start_ns) <
                                                std::tuple(range.span.track, range.span.start_ns);
                                       });
  for (auto range = behind; range != ranges_.begin();) {
    --range;
    if (range->span.track != span.track || range->latest_end_ns < span.end_ns) return;
    if (range->span.end_ns < span.end_ns) continue;
    const auto index = static_cast<std::size_t>(range - ranges_.begin());
    std::size_t& place = range->span.mark == SpanMark::collective ? found.range : found.op;
    if (place == kNoRange) place = index;
    if (found.range != kNoRange && found.op != kNoRange) return;
  }
}

}  // namespace traceloom
