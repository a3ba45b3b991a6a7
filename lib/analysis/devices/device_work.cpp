#include "analysis/devices/device_work.h"

#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "base/ascii.h"
#include "run/impossible_work.h"
#include "run/steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace traceloom {
namespace {

std::int64_t launched_at(const WorkPiece& piece) {
  return piece.call == nullptr ? std::numeric_limits<std::int64_t>::max() : piece.call->start_ns;
}

bool is_before(const WorkPiece& a, const WorkPiece& b) {
  if (a.span.start_ns != b.span.start_ns) return a.span.start_ns < b.span.start_ns;
  if (launched_at(a) != launched_at(b)) return launched_at(a) < launched_at(b);
  return a.span.end_ns < b.span.end_ns;
}

// Sorts indices and not the pieces, which are large.
void sort_by_time(WorkList& work) {
  if (std::is_sorted(work.begin(), work.end(), is_before)) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> places;
  places.reserve(work.size());
  for (const WorkPiece& piece : work)
    places.emplace_back(piece.span.start_ns, static_cast<std::uint32_t>(places.size()));
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (is_before(work[a.second], work[b.second])) return true;
    return !is_before(work[b.second], work[a.second]) && a.second < b.second;
  });
  WorkList sorted;
  sorted.reserve(work.size());
  for (const auto& [start_ns, place] : places) sorted.push_back(work[place]);
  work = std::move(sorted);
}

}  // namespace

std::map<std::int32_t, WorkList> DeviceWork::devices() const {
  std::map<std::int32_t, WorkList> all;
  for (const auto& [stream, work] : streams) {
    WorkList& of_device = all[stream.device];
    of_device.insert(of_device.end(), work.begin(), work.end());
  }
  for (auto& [device, work] : all) sort_by_time(work);
  return all;
}

WorkList all_work(const RankEvents& rank) {
  WorkList work;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) work.push_back({span, launches.find(part, span)});
  sort_by_time(work);
  return work;
}

DeviceWork find_device_work(const RankEvents& rank) {
  DeviceWork found;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) {
      const CallSpan* const call = launches.find(part, span);
      found.streams[{span.device, span.stream}].push_back({span, call});
      ++found.pieces;
      if (call == nullptr) ++found.unlinked;
    }
  for (auto& [stream, work] : found.streams) sort_by_time(work);
  return found;
}

std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded) {
  std::vector<DeviceGap> gaps;
  if (work.empty()) return gaps;
  std::int64_t end_ns = work.front().span.end_ns;
  for (const WorkPiece& piece : work) {
    if (piece.span.start_ns > end_ns && !holds_any(unrecorded, {end_ns, piece.span.start_ns})) {
      DeviceGap gap{{end_ns, piece.span.start_ns}, HtaGap::other, piece.call};
      if (piece.call != nullptr && piece.call->start_ns > end_ns)
        gap.kind = HtaGap::host_wait;
      else if (gap.length_ns() < kernel_gap_ns)
        gap.kind = HtaGap::kernel_wait;
      gaps.push_back(gap);
    }
    end_ns = std::max(end_ns, piece.span.end_ns);
  }
  return gaps;
}

std::int64_t worked_ns(const WorkList& work, const Intervals& unrecorded) {
  if (work.empty()) return 0;
  std::int64_t from_ns = work.front().span.start_ns;
  std::int64_t end_ns = work.front().span.end_ns;
  std::int64_t sum = 0;
  for (const WorkPiece& piece : work) {
    if (piece.span.start_ns > end_ns && holds_any(unrecorded, {end_ns, piece.span.start_ns})) {
      add_to(sum, end_ns - from_ns);
      from_ns = piece.span.start_ns;
    }
    end_ns = std::max(end_ns, piece.span.end_ns);
  }
  add_to(sum, end_ns - from_ns);
  return sum;
}

std::vector<Launch> find_launches(const WorkList& work) {
  std::vector<Launch> launches;
  std::unordered_map<const CallSpan*, std::size_t> known;
  launches.reserve(work.size());
  known.reserve(work.size());
  for (const WorkPiece& piece : work) {
    if (piece.call == nullptr) continue;
    const auto [entry, is_new] = known.emplace(piece.call, launches.size());
    if (is_new) launches.push_back({piece.call, piece.span.start_ns});
    Launch& launch = launches[entry->second];
    add_to(launch.device_ns, piece.span.end_ns - piece.span.start_ns);
    ++launch.pieces;
  }
  return launches;
}

std::vector<QueueChange> find_queue(const std::vector<Launch>& launches) {
  std::vector<QueueChange> changes;
  changes.reserve(2 * launches.size());
  for (const Launch& launch : launches) {
    changes.push_back({std::min(launch.call->start_ns, launch.start_ns), 1});
    changes.push_back({launch.start_ns, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const QueueChange& a, const QueueChange& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.length > b.length;
  });
  std::int64_t length = 0;
  for (QueueChange& change : changes) {
    length += change.length;
    change.length = length;
  }
  return changes;
}

namespace {

// HTA's limit for outliers: a call that only launches takes some microseconds.
constexpr std::int64_t kLongerThanLaunch = 50'000;

struct CallRow {
  std::string_view part;  // part of the name, in lower case
  std::int64_t least_ns;
};

// The runtimes and drivers of CUDA, HIP, Level Zero, Unified Runtime, MUSA and Ascend.
constexpr CallRow kCalls[] = {
    {"synchronize", 0},             // cudaDeviceSynchronize, hipStreamSynchronize, aclrt...
    {"queuefinish", 0},             // urQueueFinish
    {"ureventwait", 0},             //
    {"pieventswait", 0},            //
    {"memcpy", kLongerThanLaunch},  // cudaMemcpyAsync, hipMemcpyWithStream, urEnqueueUSMMemcpy
};

// Parts of the names of calls that copy and fill, in lower case.
constexpr std::string_view kMemoryCalls[] = {"memcpy", "memset"};

constexpr std::string_view kOperators[] = {"aten::item", "aten::_local_scalar_dense"};

}  // namespace

std::int64_t least_blocking_ns(std::string_view call) {
  const std::string lower = to_lower(call);
  const auto* const found =
      std::find_if(std::begin(kCalls), std::end(kCalls),
                   [&](const CallRow& row) { return lower.find(row.part) != std::string::npos; });
  return found == std::end(kCalls) ? std::numeric_limits<std::int64_t>::max() : found->least_ns;
}

bool is_launching(std::string_view call) {
  return launches_kernels(call) || has_any(kMemoryCalls, to_lower(call));
}

bool is_reading_operator(std::string_view op) {
  return std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

HostTimeline::HostTimeline(const Run& run, const RankEvents& rank,
                           const std::set<std::uint32_t>& tracks) {
  std::map<std::uint32_t, std::vector<HostSpan>> ops;
  std::map<std::uint32_t, std::vector<HostSpan>> calls;
  rank.for_each_host([&](const HostSpan& span) {
    if (tracks.contains(span.track)) ops[span.track].push_back(span);
  });
  rank.for_each_call([&](const CallSpan& span) {
    if (tracks.contains(span.track)) calls[span.track].push_back(span);
  });
  for (const std::uint32_t track : tracks)
    threads_[track] = {flatten(run, std::move(ops[track])), flatten(run, std::move(calls[track]))};
}

// Visits spans in the order in which they begin. The open ones form a stack: its top is the
// innermost span that has not ended.
HostTimeline::Segments HostTimeline::flatten(const Run& run, std::vector<HostSpan> spans) {
  std::sort(spans.begin(), spans.end(), [&](const HostSpan& a, const HostSpan& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return run.labels.name(a.label) < run.labels.name(b.label);
  });
  Segments segments;
  std::vector<HostSpan> open;
  std::int64_t now_ns = std::numeric_limits<std::int64_t>::min();
  const auto advance = [&](std::int64_t until_ns) {
    while (!open.empty() && now_ns < until_ns) {
      const HostSpan& inner = open.back();
      if (inner.end_ns <= now_ns) {
        open.pop_back();
        continue;
      }
      const std::int64_t to_ns = std::min(inner.end_ns, until_ns);
      segments.push_back({{now_ns, to_ns}, run.labels.name(inner.label)});
      now_ns = to_ns;
    }
    now_ns = std::max(now_ns, until_ns);
  };
  for (const HostSpan& span : spans) {
    advance(span.start_ns);
    open.push_back(span);
  }
  advance(std::numeric_limits<std::int64_t>::max());
  return segments;
}

// Returns the segments in `time`, with segments without a name in between.
HostTimeline::Segments HostTimeline::fill(const Segments& segments, const Interval& time) {
  Segments filled;
  std::int64_t now_ns = time.from_ns;
  auto segment = std::partition_point(
      segments.begin(), segments.end(),
      [&](const Segment& candidate) { return candidate.time.to_ns <= time.from_ns; });
  for (; segment != segments.end() && segment->time.from_ns < time.to_ns; ++segment) {
    if (now_ns < segment->time.from_ns) filled.push_back({{now_ns, segment->time.from_ns}, {}});
    const Interval part{std::max(segment->time.from_ns, time.from_ns),
                        std::min(segment->time.to_ns, time.to_ns)};
    filled.push_back({part, segment->name});
    now_ns = part.to_ns;
  }
  if (now_ns < time.to_ns) filled.push_back({{now_ns, time.to_ns}, {}});
  return filled;
}

std::vector<HostPart> HostTimeline::parts_of(std::uint32_t track, const Interval& time) const {
  std::vector<HostPart> parts;
  const auto thread = threads_.find(track);
  if (thread == threads_.end()) return {{time, {}, {}}};
  for (const Segment& op : fill(thread->second.ops, time))
    for (const Segment& call : fill(thread->second.calls, op.time))
      parts.push_back({call.time, op.name, call.name});
  return parts;
}

std::string_view HostTimeline::op_around(const HostSpan& span) const {
  const std::vector<HostPart> parts = parts_of(span.track, {span.start_ns, span.start_ns + 1});
  return parts.empty() ? std::string_view{} : parts.front().op;
}

namespace {

// Sorts the spans by begin. A span within another is left out; a span that ends later begins at the
// other's end.
void flatten(std::vector<HostSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const HostSpan& a, const HostSpan& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<HostSpan> kept;
  for (HostSpan span : spans) {
    if (!kept.empty()) span.start_ns = std::max(span.start_ns, kept.back().end_ns);
    if (span.end_ns > span.start_ns) kept.push_back(span);
  }
  spans = std::move(kept);
}

}  // namespace

GapKinds::GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
                   std::int64_t kernel_gap_ns)
    : kernel_gap_ns_(kernel_gap_ns) {
  constexpr std::int64_t kNotKnown = -1;
  std::vector<std::int64_t> least_ns(run.labels.size(), kNotKnown);  // by label
  bool any_calls = false;
  rank.for_each_call([&](const CallSpan& call) {
    any_calls = true;
    std::int64_t& least = least_ns[call.label];
    if (least == kNotKnown) least = least_blocking_ns(run.labels.name(call.label));
    if (call.end_ns - call.start_ns >= least) blocking_[call.track].push_back(call);
  });
  if (!any_calls)
    rank.for_each_host([&](const HostSpan& span) {
      if (is_reading_operator(run.labels.name(span.label))) blocking_[span.track].push_back(span);
    });
  for (auto& [track, spans] : blocking_) {
    flatten(spans);
    blocking_tracks_.push_back(track);
  }
  for (const WorkPiece& piece : work) {
    infers_ = infers_ && piece.span.correlation == kNoId;
    if (piece.call != nullptr) launches_.emplace_back(piece.call->start_ns, piece.call->track);
  }
  std::sort(launches_.begin(), launches_.end());
}

// Returns the thread that is the next to launch anything, or the last one that did if none does.
std::uint32_t GapKinds::next_launcher(std::int64_t ns) const {
  if (launches_.empty()) return kNoTrack;
  const auto next =
      std::lower_bound(launches_.begin(), launches_.end(), std::pair{ns, std::uint32_t{0}});
  return next == launches_.end() ? launches_.back().second : next->second;
}

// Appends `part`, with the kind blocked where one of the tracks is blocked; earlier tracks have
// priority.
void GapKinds::append(const GapPart& part, std::span<const std::uint32_t> tracks,
                      std::vector<GapPart>& parts) const {
  if (part.time.to_ns <= part.time.from_ns) return;
  if (tracks.empty()) return parts.push_back(part);
  const std::uint32_t track = tracks.front();
  tracks = tracks.subspan(1);
  GapPart rest = part;
  if (const auto found = blocking_.find(track); found != blocking_.end()) {
    const Spans& spans = found->second;
    auto span = std::partition_point(spans.begin(), spans.end(), [&](const HostSpan& candidate) {
      return candidate.end_ns <= part.time.from_ns;
    });
    for (; span != spans.end() && span->start_ns < part.time.to_ns; ++span) {
      GapPart blocked = part;
      blocked.kind = GapKind::blocked;
      blocked.is_kernel_wait = false;
      blocked.track = track;
      blocked.blocked_in = &*span;
      blocked.time = {std::max(span->start_ns, part.time.from_ns),
                      std::min(span->end_ns, part.time.to_ns)};
      rest.time.to_ns = blocked.time.from_ns;
      append(rest, tracks, parts);
      parts.push_back(blocked);
      rest.time = {blocked.time.to_ns, part.time.to_ns};
    }
  }
  append(rest, tracks, parts);
}

void GapKinds::find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const {
  parts.clear();
  const Interval& time = gap.time;
  if (gap.launch == nullptr && infers_)
    return append({time, GapKind::host_wait}, blocking_tracks_, parts);
  const bool is_long = gap.length_ns() >= kernel_gap_ns_;
  const std::uint32_t next = is_long ? next_launcher(time.to_ns) : kNoTrack;
  if (gap.launch == nullptr) return append({time, GapKind::not_recorded}, std::array{next}, parts);
  const std::uint32_t launcher = gap.launch->track;
  std::int64_t launched_ns = std::clamp(gap.launch->start_ns, time.from_ns, time.to_ns);
  // The work began at once, so the device had been free: it waited only for the host.
  if (launched_ns > time.from_ns && time.to_ns - gap.launch->end_ns < kernel_gap_ns_)
    launched_ns = time.to_ns;
  append({{time.from_ns, launched_ns}, GapKind::host_wait, false, false, launcher},
         std::array{launcher}, parts);
  const bool is_kernel_wait = time.to_ns - launched_ns < kernel_gap_ns_;
  const GapPart queued{{launched_ns, time.to_ns}, GapKind::queued, true, is_kernel_wait, launcher};
  const std::array tracks{launcher, next};
  append(queued, std::span(tracks).first(is_long ? tracks.size() : 0), parts);
}

void GapKinds::find_parts_behind(const Interval& time, std::vector<GapPart>& parts) const {
  parts.clear();
  const std::array last{launches_.empty() ? kNoTrack : launches_.back().second};
  std::span<const std::uint32_t> tracks = last;
  if (infers_) tracks = blocking_tracks_;
  append({time, GapKind::host_wait}, tracks, parts);
}

}  // namespace traceloom
