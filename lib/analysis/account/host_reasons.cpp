#include "analysis/account/host_reasons.h"

#include "analysis/work/work_names.h"

#include <algorithm>
#include <utility>

namespace traceloom {
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

HostReasons::Thread::Thread(Intervals operators_and_calls, const Intervals& python,
                            const Intervals& free)
    : works(intersect(operators_and_calls, free)),
      code(subtract(intersect(python, free), works)),
      works_in(works),
      code_in(code) {}

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
  for (auto& [track, own] : packers)
    threads_[track] = std::make_unique<Thread>(unpacked(own.finish()), python, rest);
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
    if (ns > 0) use(row, ns, {});
}

}  // namespace traceloom
