#include "analysis/account/gap_kinds.h"

#include <algorithm>
#include <functional>

namespace traceloom {
namespace {

constexpr std::int64_t kNotKnown = -1;

}  // namespace

GapKinds::GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
                   std::int64_t kernel_gap_ns)
    : kernel_gap_ns_(kernel_gap_ns), least_blocking_ns_(run.labels.size(), kNotKnown) {
  bool any_calls = false;
  rank.for_each_call([&](const CallSpan& call) {
    any_calls = true;
    std::int64_t& least = least_blocking_ns_[call.label];
    if (least == kNotKnown) least = least_blocking_ns(run.labels.name(call.label));
    if (call.end_ns - call.start_ns >= least) blocking_[call.track].push_back(call);
  });
  if (!any_calls)
    rank.for_each_host([&](const HostSpan& span) {
      if (is_reading_operator(run.labels.name(span.label))) blocking_[span.track].push_back(span);
    });
  for (const WorkPiece& piece : work) {
    infers_ = infers_ && piece.span.correlation == kNoId;
    if (piece.call != nullptr) launches_.emplace_back(piece.call->start_ns, piece.call->track);
  }
  std::sort(launches_.begin(), launches_.end());
  // Where launches are inferred, a call of any thread may be the one that waits.
  if (infers_) {
    Spans all;
    for (const auto& [track, spans] : blocking_) all.insert(all.end(), spans.begin(), spans.end());
    blocking_ = {{kNoTrack, std::move(all)}};
  }
  for (auto& [track, spans] : blocking_) remove_overlaps(spans);
}

// Returns the blocking calls of the thread that have an instant in `time`, which is not empty.
std::span<const HostSpan> GapKinds::blocking_in(std::uint32_t track, const Interval& time) const {
  const auto found = blocking_.find(track);
  if (found == blocking_.end()) return {};
  const Spans& spans = found->second;
  const auto is_before = [&](const HostSpan& span) { return span.end_ns <= time.from_ns; };
  const auto begins_before = [&](const HostSpan& span) { return span.start_ns < time.to_ns; };
  return {std::ranges::partition_point(spans, is_before),
          std::ranges::partition_point(spans, begins_before)};
}

// Appends `part`, with the kind blocked where that thread is blocked.
void GapKinds::append(GapPart part, std::uint32_t track, std::vector<GapPart>& parts) const {
  const std::int64_t to_ns = part.time.to_ns;
  if (to_ns <= part.time.from_ns) return;
  const auto append_rest = [&] {
    if (part.time.to_ns > part.time.from_ns) parts.push_back(part);
  };
  for (const HostSpan& span : blocking_in(track, part.time)) {
    GapPart blocked = part;
    blocked.kind = GapKind::blocked;
    blocked.track = span.track;
    blocked.blocked_in = &span;
    blocked.time = {std::max(span.start_ns, part.time.from_ns), std::min(span.end_ns, to_ns)};
    part.time.to_ns = blocked.time.from_ns;
    append_rest();
    parts.push_back(blocked);
    part.time = {blocked.time.to_ns, to_ns};
  }
  append_rest();
}

std::set<std::uint32_t> GapKinds::launching_tracks(std::size_t most) const {
  std::map<std::uint32_t, std::size_t> counts;
  for (const auto& [ns, track] : launches_) ++counts[track];
  std::vector<std::pair<std::size_t, std::uint32_t>> sorted;
  for (const auto& [track, count] : counts) sorted.emplace_back(count, track);
  std::ranges::sort(sorted, std::greater());
  std::set<std::uint32_t> tracks;
  for (const auto& [count, track] : sorted)
    if (tracks.size() < most) tracks.insert(track);
  return tracks;
}

std::int64_t GapKinds::launched_at(const DeviceGap& gap) const {
  const CallSpan& call = *gap.launch;
  const std::int64_t least_ns = least_blocking_ns_[call.label];
  const bool waits = least_ns != kNotKnown && call.end_ns - call.start_ns >= least_ns;
  return waits || gap.is_of_launch ? call.start_ns : call.end_ns;
}

void GapKinds::find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const {
  parts.clear();
  const Interval& time = gap.time;
  const bool is_short = gap.length_ns() < kernel_gap_ns_;
  if (gap.launch == nullptr && infers_) return append({time, GapKind::host_wait}, kNoTrack, parts);
  if (gap.launch == nullptr) return parts.push_back({time, GapKind::not_recorded});
  const std::uint32_t launcher = gap.launch->track;
  std::int64_t launched_ns = std::clamp(launched_at(gap), time.from_ns, time.to_ns);
  if (launched_ns == time.from_ns && gap.is_in_stream)
    return parts.push_back({time, GapKind::turn_around, is_short, launcher});
  // The work began at once, so the device had been free: it waited only for the host.
  if (launched_ns > time.from_ns && time.to_ns - gap.launch->end_ns < kernel_gap_ns_)
    launched_ns = time.to_ns;
  append({{time.from_ns, launched_ns}, GapKind::host_wait, false, launcher}, launcher, parts);
  if (launched_ns == time.to_ns) return;
  GapPart queued{{launched_ns, time.to_ns}, GapKind::queued};
  queued.is_kernel_wait = time.to_ns - launched_ns < kernel_gap_ns_;
  queued.track = launcher;
  const std::span calls = blocking_in(launcher, queued.time);
  if (!queued.is_kernel_wait && !calls.empty())
    queued.blocked_in = &*std::ranges::max_element(
        calls, {}, [](const HostSpan& call) { return call.end_ns - call.start_ns; });
  parts.push_back(queued);
}

std::uint64_t GapKinds::launches_in(const Intervals& times) const {
  std::uint64_t count = 0;
  auto time = times.begin();
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const std::int64_t ns = launches_[i].first;
    while (time != times.end() && time->to_ns <= ns) ++time;
    if (time == times.end()) break;
    if (ns >= time->from_ns && (i == 0 || launches_[i] != launches_[i - 1])) ++count;
  }
  return count;
}

}  // namespace traceloom
