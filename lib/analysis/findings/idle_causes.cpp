#include "analysis/findings/idle_causes.h"

#include "analysis/devices/device_work.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kQueuedForLong = 100'000;  // nanoseconds; HTA's limit for a late start
constexpr double kWorthFrames = 0.005;            // share of steps from which frames are examined
constexpr std::size_t kCallsLookedAt = 16;        // the longest calls, whose callers are found
constexpr std::size_t kMostCallers = 4;
constexpr std::size_t kMostBlocking = 3;
constexpr std::size_t kMostFrames = 3;

// The time of a rank's steps without the work of devices.
struct RestOfSteps {
  Intervals steps;  // steps that count
  Intervals all;    // time of the steps without work of devices, collectives, and waits for data
  Intervals works;  // time of `all` with operators or calls
  Intervals code;   // time of `all` with only Python's frames
  // From the first event of the host, besides steps, to the last one.
  Interval recorded = {std::numeric_limits<std::int64_t>::max(),
                       std::numeric_limits<std::int64_t>::min()};
};

RestOfSteps find_rest(const RankRoles& roles) {
  RestOfSteps found;
  const Intervals runtime = unpacked(roles.sets[Role::runtime]);
  const Intervals loading = unpacked(roles.sets[Role::dataloader]);
  const Intervals operators = unpacked(roles.sets[Role::cpu]);
  const Intervals code = unpacked(roles.sets[Role::host_code]);
  for (const Intervals* const times : {&runtime, &loading, &operators, &code}) {
    if (times->empty()) continue;
    found.recorded.from_ns = std::min(found.recorded.from_ns, times->front().from_ns);
    found.recorded.to_ns = std::max(found.recorded.to_ns, times->back().to_ns);
  }
  found.steps = roles.counted();
  Intervals left = found.steps;
  for (const Role role : {Role::kernel, Role::memcpy, Role::memset, Role::communication})
    left = subtract(left, unpacked(roles.sets[role]));
  const Intervals calls = intersect(left, runtime);
  const Intervals loader = subtract(loading, calls);
  found.all = subtract(left, loader);
  found.works = intersect(subtract(found.all, calls), operators);
  found.works.insert(found.works.end(), calls.begin(), calls.end());
  found.works = unite(std::move(found.works));
  found.code = intersect(subtract(found.all, found.works), code);
  return found;
}

// Returns the time at which the host began to launch work that the trace no longer contains, or the
// end of time if it contains all.
std::int64_t first_lost_launch(const Run& run, const RankEvents& rank, const WorkList& work) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (const WorkPiece& piece : work)
    if (piece.call != nullptr) last_ns = std::max(last_ns, piece.call->start_ns);
  std::int64_t lost_ns = kNever;
  rank.for_each_call([&](const CallSpan& call) {
    if (call.start_ns > last_ns && call.start_ns < lost_ns && call.correlation != kNoId &&
        is_launching(run.labels.name(call.label)))
      lost_ns = call.start_ns;
  });
  return last_ns == std::numeric_limits<std::int64_t>::min() ? kNever : lost_ns;
}

// A call that blocks, and how much of it lies in gaps.
struct BlockedCall {
  const HostSpan* span;
  std::int64_t ns = 0;
  std::int64_t launched_ns = 0;
};

// Returns the callers of each call, the innermost first: operators, then a function of Python.
std::vector<std::string> find_callers(const Run& run, const RankEvents& rank,
                                      const std::vector<BlockedCall>& calls) {
  using Around = std::vector<std::pair<std::int64_t, std::string_view>>;
  std::vector<Around> around(calls.size());
  std::vector<const HostSpan*> frames(calls.size(), nullptr);
  const auto holds = [](const HostSpan& outer, const HostSpan& inner) {
    return outer.track == inner.track && outer.start_ns <= inner.start_ns &&
           outer.end_ns >= inner.end_ns;
  };
  rank.for_each_host([&](const HostSpan& span) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (holds(span, *calls[i].span) && span.label != calls[i].span->label)
        around[i].emplace_back(span.start_ns, run.labels.name(span.label));
  });
  rank.for_each_frame([&](const HostSpan& span) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (holds(span, *calls[i].span) &&
          run.labels.name(span.label).find(": ") != std::string::npos)
        if (frames[i] == nullptr || span.start_ns > frames[i]->start_ns) frames[i] = &span;
  });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::sort(around[i].rbegin(), around[i].rend());
    std::vector<std::string> names;
    for (const auto& [start_ns, name] : around[i])
      if (names.size() < kMostCallers && (names.empty() || names.back() != name))
        names.emplace_back(name);
    if (frames[i] != nullptr) names.push_back(read_frame(run.labels.name(frames[i]->label)).text());
    texts.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  return texts;
}

// Sums the longest calls by call and callers; shorter calls are added to those of the same name.
std::vector<BlockingSum> sum_calls(const Run& run, const RankEvents& rank,
                                   std::vector<BlockedCall> calls) {
  std::ranges::stable_sort(calls, std::greater(), &BlockedCall::ns);
  const std::vector<BlockedCall> longest(
      calls.begin(),
      calls.begin() + static_cast<std::ptrdiff_t>(std::min(calls.size(), kCallsLookedAt)));
  const std::vector<std::string> callers = find_callers(run, rank, longest);
  std::vector<BlockingSum> sums;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string_view name = run.labels.name(calls[i].span->label);
    auto found = std::find_if(sums.begin(), sums.end(), [&](const BlockingSum& sum) {
      return sum.call == name && (i >= longest.size() || sum.callers == callers[i]);
    });
    if (found == sums.end())
      found = sums.insert(sums.end(), {std::string(name), i < callers.size() ? callers[i] : ""});
    add_to(found->ns, calls[i].ns);
    add_to(found->launched_ns, calls[i].launched_ns);
    ++found->calls;
    found->longest_ns =
        std::max(found->longest_ns, calls[i].span->end_ns - calls[i].span->start_ns);
  }
  return sums;
}

// Finds the causes for one rank.
class CauseFinder {
 public:
  CauseFinder(const Run& run, const RankEvents& rank, const RankRoles& roles)
      : run_(run),
        rank_(rank),
        rest_(find_rest(roles)),
        all_(rest_.all),
        works_(rest_.works),
        code_(rest_.code) {}

  IdleCauses find() {
    const WorkList work = all_work(rank_);
    const GapKinds kinds(run_, rank_, work);
    causes_.work = work.size();
    for (const WorkPiece& piece : work) causes_.linked += piece.call == nullptr ? 0 : 1;
    infers_ = kinds.infers();
    if (!work.empty() && !rest_.steps.empty()) {
      add_begin(kinds, work.front());
      for (const DeviceGap& gap : find_gaps(work, kUsualKernelGap, rank_.unrecorded)) {
        kinds.find_parts(gap, parts_);
        for (const GapPart& part : parts_) add(part);
      }
      add_end(kinds, work);
    }
    finish();
    return std::move(causes_);
  }

 private:
  // Before the first work and after the last one, only the host's events show the reason.
  enum class Place : std::uint8_t { before, between, behind };

  void add_begin(const GapKinds& kinds, const WorkPiece& first) {
    DeviceGap gap{{rest_.steps.front().from_ns, first.span.start_ns}, HtaGap::other, first.call};
    if (gap.length_ns() <= 0) return;
    if (first.call != nullptr && first.call->start_ns > gap.time.from_ns &&
        gap.time.to_ns - first.call->end_ns >= kQueuedForLong) {
      gap.time.from_ns = std::min(first.call->start_ns, gap.time.to_ns);
      GapPart busy;
      busy.time = {rest_.steps.front().from_ns, gap.time.from_ns};
      add(busy, Place::before);
    }
    kinds.find_parts(gap, parts_);
    for (const GapPart& part : parts_) add(part, Place::before);
  }

  void add_end(const GapKinds& kinds, const WorkList& work) {
    Interval time{std::numeric_limits<std::int64_t>::min(), rest_.steps.back().to_ns};
    for (const WorkPiece& piece : work) time.from_ns = std::max(time.from_ns, piece.span.end_ns);
    if (time.to_ns <= time.from_ns) return;
    const std::int64_t lost_ns =
        std::clamp(first_lost_launch(run_, rank_, work), time.from_ns, time.to_ns);
    kinds.find_parts_behind({time.from_ns, lost_ns}, parts_);
    for (const GapPart& part : parts_) add(part, Place::behind);
    GapPart lost;
    lost.time = {lost_ns, time.to_ns};
    add(lost, Place::behind);
  }

  void add(const GapPart& part, Place place = Place::between) {
    const std::int64_t ns = all_.in(part.time);
    if (ns <= 0) return;
    switch (part.kind) {
      case GapKind::host_wait:
        return add_host_wait(part, ns, place);
      case GapKind::queued:
        if (part.is_kernel_wait)
          add_to(causes_.kernel_wait_ns, ns);
        else if (place == Place::before)
          add_to(causes_.queued_before_ns, ns);
        return add(IdleCause::queued, ns);
      case GapKind::blocked:
        if (part.was_launched) add_to(causes_.launched_ns, ns);
        if (blocked_.empty() || blocked_.back().span != part.blocked_in)
          blocked_.push_back({part.blocked_in});
        add_to(blocked_.back().ns, ns);
        if (part.was_launched) add_to(blocked_.back().launched_ns, ns);
        return add(IdleCause::blocked, ns);
      case GapKind::not_recorded:
        return add(IdleCause::not_recorded, ns);
    }
  }

  void add_host_wait(const GapPart& part, std::int64_t ns, Place place) {
    const std::int64_t works_ns = works_.in(part.time);
    const std::int64_t code_ns = code_.in(part.time);
    const std::int64_t idle_ns =
        place == Place::between ? ns - works_ns - code_ns : seen_idle_ns(part, works_ns + code_ns);
    add(IdleCause::launch, works_ns);
    add(IdleCause::host_code, code_ns);
    add(IdleCause::idle, idle_ns);
    add(IdleCause::not_recorded, ns - works_ns - code_ns - idle_ns);
    if (code_ns > 0) waits_.push_back(part.time);
    if (infers_)
      for (const auto& [cause, some_ns] :
           {std::pair{IdleCause::launch, works_ns}, std::pair{IdleCause::host_code, code_ns},
            std::pair{IdleCause::idle, idle_ns}})
        add_to(causes_[cause].inferred_ns, some_ns);
  }

  // Returns the time of a part, besides `busy_ns`, in which the host did nothing although it was
  // recorded: a step is marked, and events of the host stand before and after.
  std::int64_t seen_idle_ns(const GapPart& part, std::int64_t busy_ns) {
    if (rank_.steps.kind == StepKind::none) return 0;
    const Interval seen{std::max(part.time.from_ns, rest_.recorded.from_ns),
                        std::min(part.time.to_ns, rest_.recorded.to_ns)};
    if (seen.from_ns >= seen.to_ns) return 0;
    const std::int64_t seen_ns = all_.in(seen);
    return std::max<std::int64_t>(seen_ns - busy_ns, 0);
  }

  void add(IdleCause cause, std::int64_t ns) {
    if (ns <= 0) return;
    add_to(causes_[cause].ns, ns);
    ++causes_[cause].parts;
    add_to(told_ns_, ns);
  }

  // The time outside of all gaps is between two recordings, or belongs to a rank without devices.
  void finish() {
    add(IdleCause::not_recorded, total_ns(rest_.all) - told_ns_);
    for (const IdleCause cause : kAllOf<IdleCause>)
      causes_[cause].ranks = causes_[cause].ns > 0 ? 1 : 0;
    causes_.blocking = sum_calls(run_, rank_, std::move(blocked_));
    const std::int64_t code_ns = causes_[IdleCause::host_code].ns;
    if (static_cast<double>(code_ns) > kWorthFrames * static_cast<double>(total_ns(rest_.steps)))
      causes_.frames =
          top_frames(run_, rank_, intersect(unite(std::move(waits_)), rest_.code), rest_.steps);
  }

  const Run& run_;
  const RankEvents& rank_;
  RestOfSteps rest_;
  IntervalLengths all_;
  IntervalLengths works_;
  IntervalLengths code_;
  bool infers_ = false;
  std::int64_t told_ns_ = 0;
  std::vector<GapPart> parts_;
  Intervals waits_;
  std::vector<BlockedCall> blocked_;
  IdleCauses causes_;
};

}  // namespace

void IdleCauses::add(IdleCauses other) {
  for (const IdleCause cause : kAllOf<IdleCause>)
    add_sums((*this)[cause].sums(), other[cause].sums());
  add_sums(sums(), other.sums());
  for (const BlockingSum& more : other.blocking) {
    const auto found = std::find_if(blocking.begin(), blocking.end(), [&](const BlockingSum& sum) {
      return sum.call == more.call && sum.callers == more.callers;
    });
    if (found == blocking.end()) {
      blocking.push_back(more);
      continue;
    }
    add_to(found->ns, more.ns);
    add_to(found->launched_ns, more.launched_ns);
    found->calls += more.calls;
    found->longest_ns = std::max(found->longest_ns, more.longest_ns);
  }
  for (const FrameSum& more : other.frames) {
    const auto found = std::find_if(frames.begin(), frames.end(), [&](const FrameSum& sum) {
      return sum.name == more.name && sum.file == more.file;
    });
    if (found == frames.end())
      frames.push_back(more);
    else
      add_to(found->ns, more.ns);
  }
}

IdleCauses find_idle_causes(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks) {
  const auto find = [&](std::size_t rank) {
    return CauseFinder(run, run.ranks[rank], roles[rank]).find();
  };
  IdleCauses all;
  for (IdleCauses& causes : per_rank<IdleCauses>(run, ranks, find)) all.add(std::move(causes));
  std::ranges::stable_sort(all.blocking, std::greater(), &BlockingSum::ns);
  std::ranges::stable_sort(all.frames, std::greater(), &FrameSum::ns);
  if (all.blocking.size() > kMostBlocking) all.blocking.resize(kMostBlocking);
  if (all.frames.size() > kMostFrames) all.frames.resize(kMostFrames);
  return all;
}

}  // namespace traceloom
