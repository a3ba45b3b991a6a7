#include "analysis/account/host_timeline.h"

#include "base/arithmetic.h"
#include "run/steps.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceloom {

HostTimeline::HostTimeline(const Run& run, const RankEvents& rank,
                           const std::set<std::uint32_t>& tracks, const Intervals* windows) {
  std::map<std::uint32_t, std::vector<HostSpan>> ops;
  std::map<std::uint32_t, std::vector<HostSpan>> calls;
  const auto is_wanted = [&](const HostSpan& span) {
    return tracks.contains(span.track) &&
           (windows == nullptr || holds_any(*windows, span.interval()));
  };
  rank.for_each_host([&](const HostSpan& span) {
    if (is_wanted(span)) ops[span.track].push_back(span);
  });
  rank.for_each_call([&](const CallSpan& span) {
    if (is_wanted(span)) calls[span.track].push_back(span);
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

std::uint32_t busiest_thread(const RankEvents& rank) {
  std::map<std::uint32_t, std::int64_t> times;
  const auto add = [&](const HostSpan& span) {
    add_to(times[span.track], span.end_ns - span.start_ns);
  };
  rank.for_each_host(add);
  rank.for_each_call(add);
  const auto busiest =
      std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  return busiest == times.end() ? kNoTrack : busiest->first;
}

void remove_overlaps(std::vector<HostSpan>& spans) {
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

}  // namespace traceloom
