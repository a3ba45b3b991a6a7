#include "analysis/account/gap_reasons.h"

#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "run/steps.h"

#include <algorithm>
#include <limits>

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

static constexpr std::int64_t kNotKnown = -1;

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
  std::set<std::pair<std::size_t, std::uint32_t>, std::greater<>> sorted;
  for (const auto& [track, count] : counts) sorted.emplace(count, track);
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

namespace {

// Returns the times in which a thread captures a graph: up to the end of its next call that ends a
// capture, or of its last one.
std::vector<HostSpan> find_captures(const Run& run, const RankEvents& rank) {
  std::vector<std::uint8_t> kinds(run.labels.size(), 0);  // 1 begins, 2 ends
  bool any = false;
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    if (run.labels.kind(label).place != EventPlace::call) continue;
    const std::string_view name = run.labels.name(label);
    if (name.find("BeginCapture") != name.npos) kinds[label] = 1;
    if (name.find("EndCapture") != name.npos) kinds[label] = 2;
    any |= kinds[label] == 1;
  }
  std::vector<HostSpan> captures;
  if (!any) return captures;
  std::vector<HostSpan> calls;
  std::map<std::uint32_t, std::int64_t> last_ns;
  rank.for_each_call([&](const CallSpan& call) {
    if (kinds[call.label] != 0) calls.push_back(call);
    std::int64_t& last = last_ns.try_emplace(call.track, call.end_ns).first->second;
    last = std::max(last, call.end_ns);
  });
  std::ranges::stable_sort(calls, {}, &HostSpan::start_ns);
  std::map<std::uint32_t, std::size_t> open;  // by track: place in captures
  for (const HostSpan& call : calls) {
    if (kinds[call.label] == 1 && open.try_emplace(call.track, captures.size()).second) {
      captures.push_back(call);
      captures.back().end_ns = last_ns[call.track];
    }
    if (const auto found = open.find(call.track); kinds[call.label] == 2 && found != open.end()) {
      captures[found->second].end_ns = call.end_ns;
      open.erase(found);
    }
  }
  return captures;
}

std::vector<HostSpan> find_overhead(const RankEvents& rank) {
  std::vector<HostSpan> spans;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::overhead) spans.push_back(span);
  });
  return spans;
}

}  // namespace

HostReasons::Thread::Thread(const Intervals& operators_and_calls, const Intervals& python,
                            const Intervals& all_operators, const Intervals& free)
    : works(intersect(operators_and_calls, free)),
      code(subtract(intersect(python, free), works)),
      beside(subtract(subtract(intersect(all_operators, free), works), code)),
      works_in(works),
      code_in(code),
      beside_in(beside) {}

HostReasons::Named HostReasons::take(std::vector<HostSpan> spans, Intervals& free) {
  Named named;
  remove_overlaps(spans);
  for (const HostSpan& span : spans) named.set.push_back(span.interval());
  named.set = intersect(unite(std::move(named.set)), free);
  free = subtract(free, named.set);
  named.spans = std::move(spans);
  return named;
}

HostReasons::HostReasons(const Run& run, const RankEvents& rank, const RankRoles& roles,
                         const Intervals& free, const Intervals& windows,
                         const std::set<std::uint32_t>& tracks)
    : run_(run), free_in_(free) {
  Intervals rest = free;
  profiler_ = take(find_overhead(rank), rest);
  capture_ = take(find_captures(run, rank), rest);
  for (Named* const named : {&profiler_, &capture_})
    named->in = std::make_unique<IntervalLengths>(named->set);
  std::set<std::uint32_t> shown = tracks;
  if (tracks.empty()) shown.insert(named_ = busiest_thread(rank));
  const bool needs_all = tracks.empty() || tracks.size() == kMostThreads;
  std::map<std::uint32_t, IntervalPacker> packers;
  for (const std::uint32_t track : tracks) packers[track];
  IntervalPacker& all = packers[kNoTrack];
  std::uint32_t last = kNoTrack;
  IntervalPacker* packer = nullptr;
  const auto add = [&](const HostSpan& span) {
    if (needs_all) all.add(span.interval());
    if (span.track != last) {
      last = span.track;
      const auto found = packers.find(last);
      packer = found == packers.end() ? nullptr : &found->second;
    }
    if (packer != nullptr) packer->add(span.interval());
  };
  rank.for_each_host(add);
  rank.for_each_call(add);
  const Intervals python = unpacked(roles.sets[Role::host_code]);
  const Intervals operators = unpacked(roles.sets[Role::cpu]);
  // The backward pass has a thread of its own, in which there is no Python.
  std::set<std::uint32_t> with_python{kNoTrack};
  if (tracks.size() == 1) with_python.insert(*tracks.begin());
  if (tracks.size() > 1)
    rank.for_each_frame([&](const HostSpan& span) {
      if (span.track != last) with_python.insert(last = span.track);
    });
  for (auto& [track, own] : packers)
    threads_[track] = std::make_unique<Thread>(unpacked(own.finish()),
                                               with_python.contains(track) ? python : Intervals(),
                                               operators, rest);
  timeline_ = std::make_unique<HostTimeline>(run, rank, shown, &windows);
}

void HostReasons::Named::find(AccountRow row, const Interval& time, const Labels& labels,
                              const Use& use, std::int64_t& rest_ns) {
  auto span = std::ranges::partition_point(
      spans, [&](const HostSpan& one) { return one.end_ns <= time.from_ns; });
  for (; span != spans.end() && span->start_ns < time.to_ns; ++span) {
    const std::int64_t ns =
        in->in({std::max(span->start_ns, time.from_ns), std::min(span->end_ns, time.to_ns)});
    if (ns <= 0) continue;
    use(row, ns, {*span, labels.name(span->label)});
    rest_ns -= ns;
  }
}

void HostReasons::find(std::uint32_t track, const Interval& time, const Use& use) {
  track = known(track);
  Thread& thread = *threads_.at(track);
  const std::uint32_t shown = track == kNoTrack ? named_ : track;
  std::int64_t rest_ns = free_in_.in(time);
  if (rest_ns <= 0) return;
  profiler_.find(AccountRow::profiler, time, run_.labels, use, rest_ns);
  capture_.find(AccountRow::capture, time, run_.labels, use, rest_ns);
  std::int64_t works_ns = thread.works_in.in(time);
  const std::int64_t code_ns = thread.code_in.in(time);
  rest_ns -= works_ns + code_ns;
  if (length_ns(time) >= kLeastPiece && shown != kNoTrack) {
    for (const HostPart& part : timeline_->parts_of(shown, time)) {
      const bool is_call = !part.call.empty();
      const std::string_view name = is_call ? part.call : part.op;
      if (length_ns(part.time) < kLeastPiece || name.empty() || is_compiled_region(name)) continue;
      const std::int64_t ns = thread.works_in.in(part.time);
      if (ns < kLeastPiece) continue;
      use(is_call ? AccountRow::host_call : AccountRow::host_operator, ns,
          {{part.time.from_ns, part.time.to_ns, ~0U, shown}, name});
      works_ns -= ns;
    }
  }
  for (const auto& [row, ns] :
       {std::pair{AccountRow::launch, works_ns}, std::pair{AccountRow::host_code, code_ns},
        std::pair{AccountRow::idle, rest_ns}})
    if (ns > 0) use(row, ns, {{}, {}, row == AccountRow::idle ? thread.beside_in.in(time) : 0});
}

}  // namespace traceloom
