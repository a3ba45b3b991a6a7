#include "run/steps.h"

#include "run/launches.h"
#include "run/run.h"

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Returns the marks for which is_wanted(mark), sorted by begin, longer ones first; equal ones stay
// in file order.
template <typename Wanted>
PackedRows<MarkedSpan> find_marks_if(const std::vector<EventColumns>& parts, Wanted is_wanted) {
  const auto before = [](const MarkedSpan& a, const MarkedSpan& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  };
  PackedRows<MarkedSpan> found;
  MarkedSpan last{};
  bool sorted = true;
  for (const EventColumns& part : parts)
    for (const MarkedSpan& span : part.marks) {
      if (!is_wanted(span.mark)) continue;
      sorted &= found.empty() || !before(span, last);
      found.push_back(span);
      last = span;
    }
  if (sorted) return found;
  std::vector<MarkedSpan> spans;
  spans.reserve(found.size());
  for (const MarkedSpan& span : found) spans.push_back(span);
  std::ranges::stable_sort(spans, before);
  found.clear();
  for (const MarkedSpan& span : spans) found.push_back(span);
  return found;
}

PackedRows<MarkedSpan> find_marks(const std::vector<EventColumns>& parts, SpanMark mark) {
  return find_marks_if(parts, [&](SpanMark other) { return other == mark; });
}

// Makes one step of each range. If a number appears twice at the same time (two recorders of one
// process, two devices), it is one step.
std::vector<Step> numbered_steps(const std::vector<EventColumns>& parts, SpanMark mark) {
  std::vector<Step> steps;
  for (const MarkedSpan& span : find_marks(parts, mark)) {
    if (!steps.empty() && steps.back().number == span.number &&
        span.start_ns < steps.back().host.to_ns) {
      steps.back().host.to_ns = std::max(steps.back().host.to_ns, span.end_ns);
      continue;
    }
    Step step;
    step.number = span.number;
    step.host = span.interval();
    steps.push_back(step);
  }
  return steps;
}

// Makes one step of all operations of a number, also where two steps overlap a little.
std::vector<Step> operation_steps(const std::vector<EventColumns>& parts) {
  std::map<std::int64_t, Interval> times;
  for (const MarkedSpan& span : find_marks(parts, SpanMark::operation)) {
    Interval& time = times.try_emplace(span.number, span.interval()).first->second;
    time.to_ns = std::max(time.to_ns, span.end_ns);
  }
  std::vector<Step> steps;
  for (const auto& [number, time] : times) {
    Step& step = steps.emplace_back();
    step.number = number;
    step.time = step.host = time;
  }
  std::ranges::sort(steps, {}, [](const Step& step) { return step.time.from_ns; });
  for (std::size_t i = 1; i < steps.size(); ++i)
    steps[i].time.from_ns = std::max(steps[i].time.from_ns, steps[i - 1].time.to_ns);
  for (Step& step : steps) step.time.to_ns = std::max(step.time.to_ns, step.time.from_ns);
  return steps;
}

// Makes one step of each iteration that does not lie in another, and counts those of other modes.
std::vector<Step> iteration_steps(const std::vector<EventColumns>& parts, std::uint64_t& rest) {
  std::vector<Step> steps;
  const auto is_wanted = [&](SpanMark mark) {
    rest += mark == SpanMark::rest ? 1 : 0;
    return is_iteration(mark);
  };
  for (const MarkedSpan& span : find_marks_if(parts, is_wanted)) {
    if (!steps.empty() && span.end_ns <= steps.back().host.to_ns) continue;
    Step step;
    step.phase = span.mark == SpanMark::prefill ? StepPhase::prefill : StepPhase::decode;
    step.number = static_cast<std::int64_t>(steps.size());
    step.host = span.interval();
    steps.push_back(step);
  }
  return steps;
}

// Takes the steps of a device's own row. Each lasts until the next one begins, since its host works
// until then, unless steps are missing between them. If others last longer than their rows, the end
// of the last one is not known, and it does not count. Work that begins in a step belongs to it.
void extend_to_next(const std::vector<EventColumns>& parts, std::vector<Step>& steps) {
  std::int64_t end_ns = steps.front().host.from_ns;
  bool has_longer = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t from_ns = std::max(end_ns, steps[i].host.from_ns);
    end_ns = std::max(from_ns, steps[i].host.to_ns);
    if (i + 1 < steps.size() && steps[i + 1].number == steps[i].number + 1)
      end_ns = std::max(from_ns, steps[i + 1].host.from_ns);
    steps[i].time = {from_ns, end_ns};
    has_longer |= end_ns > steps[i].host.to_ns;
  }
  steps.back().counted = !has_longer;
  for (const EventColumns& part : parts)
    for (const DeviceSpan& span : part.devices) {
      auto after = std::ranges::upper_bound(steps, span.start_ns, {},
                                            [](const Step& step) { return step.time.from_ns; });
      if (after == steps.begin()) continue;
      if (--after; span.start_ns < after->time.to_ns) ++after->device_ops;
    }
}

// The begin and end of the device work of each step.
struct DeviceWork {
  std::int64_t first_ns = kNever;
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

// Returns the step that contains the whole call, or nothing if none does.
std::optional<std::size_t> step_around(const std::vector<Step>& steps, const Interval& call) {
  auto after = std::ranges::upper_bound(steps, call.from_ns, {},
                                        [](const Step& step) { return step.host.from_ns; });
  if (after == steps.begin()) return std::nullopt;
  --after;
  if (call.from_ns >= after->host.to_ns || call.to_ns > after->host.to_ns) return std::nullopt;
  return static_cast<std::size_t>(after - steps.begin());
}

std::vector<DeviceWork> find_device_work(const std::vector<EventColumns>& parts,
                                         std::vector<Step>& steps,
                                         std::vector<Interval>& not_launched) {
  std::vector<DeviceWork> work(steps.size());
  const Launches launches(parts);
  for (const EventColumns& part : parts)
    for (const DeviceSpan& span : part.devices) {
      const CallSpan* const call = launches.find(part, span);
      const std::optional<std::size_t> step =
          call == nullptr ? std::nullopt : step_around(steps, call->interval());
      if (!step) {
        not_launched.push_back(span.interval());
        continue;
      }
      work[*step].first_ns = std::min(work[*step].first_ns, span.start_ns);
      work[*step].last_ns = std::max(work[*step].last_ns, span.end_ns);
      ++steps[*step].device_ops;
    }
  return work;
}

// Returns the end of the device work that steps before a run's first recorded step launched.
std::int64_t end_before(const Step& first, const DeviceWork& work,
                        const std::vector<Interval>& not_launched) {
  std::int64_t end_ns = first.host.from_ns;
  if (first.device_ops == 0) return end_ns;
  for (const Interval& span : not_launched)
    if (span.to_ns < work.first_ns) end_ns = std::max(end_ns, span.to_ns);
  return end_ns;
}

void extend_by_devices(const std::vector<EventColumns>& parts, std::vector<Step>& steps) {
  std::vector<Interval> not_launched;
  const std::vector<DeviceWork> work = find_device_work(parts, steps, not_launched);
  const bool any = std::ranges::any_of(steps, [](const Step& step) { return step.device_ops > 0; });
  std::int64_t end_ns = steps.front().host.from_ns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    const bool is_first = i == 0 || steps[i - 1].run != step.run;
    if (any && is_first) end_ns = std::max(end_ns, end_before(step, work[i], not_launched));
    const std::int64_t from_ns = std::max(end_ns, step.host.from_ns);
    end_ns = std::max(from_ns, step.host.to_ns);
    if (step.device_ops > 0) end_ns = std::max(end_ns, work[i].last_ns);
    step.time = {from_ns, end_ns};
  }
}

// Returns the number of steps of the run that it leaves out.
std::size_t leave_out_tail(std::span<Step> steps) {
  std::size_t kept = steps.size();
  while (kept > 0 && steps[kept - 1].device_ops == 0) --kept;
  if (kept == 0) return 0;
  std::size_t before = kept - 1;
  while (before > 0 && steps[before - 1].phase != steps[kept - 1].phase) --before;
  if (before > 0 && steps[kept - 1].device_ops * 10 < steps[before - 1].device_ops * 8) --kept;
  for (std::size_t i = kept; i < steps.size(); ++i) steps[i].counted = false;
  return steps.size() - kept;
}

std::size_t leave_out_tails(std::vector<Step>& steps) {
  std::size_t dropped = 0;
  for (std::size_t from = 0; from < steps.size();) {
    std::size_t to = from + 1;
    while (to < steps.size() && steps[to].run == steps[from].run) ++to;
    if (to - from > 1) dropped += leave_out_tail(std::span(steps).subspan(from, to - from));
    from = to;
  }
  return dropped;
}

void leave_out_instant(Step& step, StepList& steps) {
  if (!step.counted || length_ns(step.time) > 0) return;
  step.counted = false;
  ++steps.instant;
}

using MarkIterator = PackedRows<MarkedSpan>::Iterator;

// Returns the number of a batch. If a merge made the span, its args are those of its end, so the
// number is taken from event/train_batch inside it. Batches must come by their begin.
std::int64_t number_of(const MarkedSpan& batch, MarkIterator& train, const MarkIterator& end) {
  if (!batch.is_merged) return batch.number;
  while (train != end && train->start_ns < batch.start_ns) ++train;
  return train != end && train->start_ns < batch.end_ns ? train->number : batch.number;
}

void add_composer_steps(const std::vector<EventColumns>& parts, StepList& list) {
  const PackedRows<MarkedSpan> train_marks = find_marks(parts, SpanMark::train_batch);
  PackedRows<MarkedSpan> batches = find_marks(parts, SpanMark::batch);
  if (batches.empty()) batches = train_marks;
  const PackedRows<MarkedSpan> loader_marks = find_marks(parts, SpanMark::loader);
  MarkIterator train = train_marks.begin();
  MarkIterator loader = loader_marks.begin();
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  RunCounter runs;
  for (const MarkedSpan& batch : batches) {
    if (batch.start_ns < before_ns) continue;  // inside another batch, from another recorder
    Step step;
    step.number = number_of(batch, train, train_marks.end());
    step.epoch = batch.epoch;
    step.host = batch.interval();
    std::optional<Interval> wait;
    for (; loader != loader_marks.end() && loader->start_ns <= batch.start_ns; ++loader) {
      if (loader->start_ns < before_ns) continue;
      if (wait) list.probes.push_back(*wait);
      wait = loader->interval();
    }
    step.time = step.host;
    if (wait) step.time.from_ns = wait->from_ns;
    before_ns = batch.end_ns;
    step.run = runs.run_of(step);
    leave_out_instant(step, list);
    list.list.push_back(step);
  }
  for (; loader != loader_marks.end(); ++loader)
    if (loader->start_ns >= before_ns) list.probes.push_back(loader->interval());
  list.list.shrink_to_fit();
}

// Calls use(interval) for each event of the program, whatever columns are wanted besides.
template <typename Use>
void for_each_time(const EventColumns& part, Use use) {
  for (const HostSpan& span : part.hosts) use(span.interval());
  for (const HostSpan& span : part.operators) use(span.interval());
  for (const HostSpan& span : part.calls) use(span.interval());
  for (const HostSpan& span : part.devices) use(span.interval());
  for (const MarkedSpan& span : part.marks)
    if (span.mark != SpanMark::module && span.mark != SpanMark::overhead) use(span.interval());
}

// Returns the time from the first to the last event of each file; overlapping times are united.
Intervals times_of_files(const std::vector<EventColumns>& parts) {
  std::map<std::size_t, Interval> files;
  for (const EventColumns& part : parts)
    for_each_time(part, [&](const Interval& time) {
      const auto [file, is_new] = files.try_emplace(part.file, time);
      if (is_new) return;
      file->second.from_ns = std::min(file->second.from_ns, time.from_ns);
      file->second.to_ns = std::max(file->second.to_ns, time.to_ns);
    });
  if (files.size() == 1) return {files.begin()->second};  // kept even if the file spans no time
  Intervals times;
  times.reserve(files.size());
  for (const auto& [file, time] : files) times.push_back(time);
  return unite(std::move(times));
}

std::vector<Step> unmarked_steps(const std::vector<EventColumns>& parts) {
  std::vector<Step> steps;
  for (const Interval& time : times_of_files(parts)) {
    Step& step = steps.emplace_back();
    step.time = step.host = time;
  }
  return steps;
}

}  // namespace

Intervals StepList::times() const {
  Intervals times;
  times.reserve(list.size());
  for (const Step& step : list) times.push_back(step.time);
  return times;
}

void RowCodec<Step>::write(PackedWriter& to, const Step& before, const Step& row) {
  const std::int64_t later_ns = wrapped_difference(row.time.from_ns, before.time.to_ns);
  const std::int64_t length_ns = wrapped_difference(row.time.to_ns, row.time.from_ns);
  const std::int64_t host_from_ns = wrapped_difference(row.host.from_ns, row.time.from_ns);
  const std::int64_t host_to_ns = wrapped_difference(row.host.to_ns, row.time.to_ns);
  const std::int64_t unit = unit_of(later_ns, length_ns, host_from_ns, host_to_ns);
  const bool other_epoch = row.epoch != before.epoch;
  const bool other_end = host_to_ns != 0;
  to.byte(static_cast<std::uint8_t>((unit == 1 ? 0U : 1U) | (other_epoch ? 2U : 0U) |
                                    (other_end ? 4U : 0U) | (row.device_ops > 0 ? 8U : 0U) |
                                    (row.counted ? 16U : 0U) | (row.run != before.run ? 32U : 0U) |
                                    static_cast<unsigned>(row.phase) << 6));
  to.signed_number(wrapped_difference(row.number, before.number));
  if (other_epoch) to.signed_number(row.epoch);
  if (row.run != before.run) to.number(row.run);
  to.signed_number(later_ns / unit);
  to.signed_number(length_ns / unit);
  to.signed_number(host_from_ns / unit);
  if (other_end) to.signed_number(host_to_ns / unit);
  if (row.device_ops > 0) to.number(row.device_ops);
}

void RowCodec<Step>::read(PackedReader& from, Step& row) {
  const unsigned head = from.byte();
  const std::int64_t unit = (head & 1) == 0 ? 1 : 1000;
  row.number = wrapped_sum(row.number, from.signed_number());
  if ((head & 2) != 0) row.epoch = from.signed_number();
  if ((head & 32) != 0) row.run = static_cast<std::uint32_t>(from.number());
  row.time.from_ns = wrapped_sum(row.time.to_ns, from.signed_number() * unit);
  row.time.to_ns = wrapped_sum(row.time.from_ns, from.signed_number() * unit);
  row.host.from_ns = wrapped_sum(row.time.from_ns, from.signed_number() * unit);
  row.host.to_ns = row.time.to_ns;
  if ((head & 4) != 0) row.host.to_ns = wrapped_sum(row.time.to_ns, from.signed_number() * unit);
  row.device_ops = (head & 8) != 0 ? from.number() : 0;
  row.counted = (head & 16) != 0;
  row.phase = static_cast<StepPhase>(head >> 6);
}

namespace {

// Uses the first kind of mark in this order that the rank has: the earlier kinds cover all work of
// a step.
std::vector<Step> marked_steps(const std::vector<EventColumns>& parts, StepList& steps) {
  steps.kind = StepKind::iterations;
  std::vector<Step> list = iteration_steps(parts, steps.rest);
  if (!list.empty()) return list;
  steps.kind = StepKind::xla;
  list = numbered_steps(parts, SpanMark::device_step);
  if (!list.empty()) return list;
  steps.kind = StepKind::torch;
  list = numbered_steps(parts, SpanMark::step);
  if (!list.empty()) return list;
  steps.kind = StepKind::operations;
  return operation_steps(parts);
}

}  // namespace

StepList find_steps(const std::vector<EventColumns>& parts) {
  StepList steps;
  std::vector<Step> list = marked_steps(parts, steps);
  if (list.empty()) {
    add_composer_steps(parts, steps);
    steps.kind = StepKind::composer;
    if (!steps.list.empty()) return steps;
    steps.kind = StepKind::none;
    steps.probes.clear();  // they are in the one step
    list = unmarked_steps(parts);
  }
  if (list.empty()) return steps;
  RunCounter runs;
  for (Step& step : list) step.run = runs.run_of(step);
  if (steps.kind == StepKind::xla) {
    extend_to_next(parts, list);
    steps.open_end = !list.back().counted;
  } else if (steps.kind != StepKind::none && steps.kind != StepKind::operations) {
    extend_by_devices(parts, list);
    steps.dropped = leave_out_tails(list);
  }
  for (Step& step : list) {
    leave_out_instant(step, steps);
    steps.list.push_back(step);
  }
  steps.list.shrink_to_fit();
  return steps;
}

namespace {

// A run (key: its number) lasts from the begin of its first step to the end of its last one.
using RunTimes = std::map<std::uint32_t, Interval>;

RunTimes times_of_runs(const StepList& steps) {
  RunTimes times;
  for (const Step& step : steps.list) {
    const auto [time, is_new] = times.try_emplace(step.run, step.time);
    if (!is_new) time->second.to_ns = std::max(time->second.to_ns, step.time.to_ns);
  }
  return times;
}

bool have_the_same(const std::vector<RunTimes>& ranks) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return std::ranges::all_of(ranks, [&](const RunTimes& times) {
    return std::equal(times.begin(), times.end(), ranks.front().begin(), ranks.front().end(), same);
  });
}

}  // namespace

std::uint32_t RunCounter::run_of(const Step& step) {
  StepKey key = key_of(step);
  key.run = before_.run;
  const bool known =
      key.number >= 0 && before_.number >= 0 && (key.epoch == kNoId) == (before_.epoch == kNoId);
  if (known && !(before_ < key)) ++key.run;
  before_ = key;
  return key.run;
}

void align_runs(std::vector<RankEvents>& ranks, bool common_clock) {
  std::vector<RunTimes> times;
  for (const RankEvents& rank : ranks)
    if (!rank.steps.list.empty()) times.push_back(times_of_runs(rank.steps));
  if (times.empty() || !common_clock || have_the_same(times)) return;
  Intervals all;
  for (const RunTimes& runs : times)
    for (const auto& [run, time] : runs) all.push_back(time);
  all = unite(std::move(all));
  const auto place_of = [&](const Interval& time) {
    const auto behind = std::ranges::upper_bound(all, time.from_ns, {}, &Interval::from_ns);
    return static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(behind - all.begin() - 1, 0));
  };
  for (RankEvents& rank : ranks) {
    std::map<std::uint32_t, std::uint32_t> places;
    for (const auto& [run, time] : times_of_runs(rank.steps)) places[run] = place_of(time);
    rank.steps.list.rewrite([&](Step& step) {
      step.run = places[step.run];
      return true;
    });
  }
}

namespace {

// Adds the first step of each run of a rank that takes over twice the median of the others.
void add_startup(const StepList& steps, std::set<StepKey>& startup) {
  constexpr std::ptrdiff_t kLeastSteps = 3;
  std::map<std::uint32_t, std::pair<StepKey, std::vector<std::int64_t>>> runs;
  for (const Step& step : steps.list)
    if (step.counted)
      runs.try_emplace(step.run, key_of(step), std::vector<std::int64_t>())
          .first->second.second.push_back(length_ns(step.time));
  for (auto& [number, run] : runs) {
    auto& [key, lengths] = run;
    if (std::ssize(lengths) < kLeastSteps) continue;
    const auto middle = lengths.begin() + std::ssize(lengths) / 2;
    std::nth_element(lengths.begin() + 1, middle, lengths.end());
    if (lengths.front() / 2 > *middle) startup.insert(key);
  }
}

// Returns the longest interval of `window` that is not in the set; empty if there is none.
Interval longest_free(const Interval& window, const Intervals& set) {
  Interval longest;
  for (const Interval& free : subtract({window}, set))
    if (length_ns(free) > length_ns(longest)) longest = free;
  return longest;
}

// Returns the gaps between steps of the host whose numbers are not consecutive.
Intervals find_breaks(const StepList& steps) {
  Intervals breaks;
  if (steps.kind != StepKind::torch) return breaks;
  bool is_first = true;
  Step before;
  for (const Step& step : steps.list) {
    if (!is_first && step.number != before.number + 1 && before.host.to_ns < step.host.from_ns)
      breaks.push_back({before.host.to_ns, step.host.from_ns});
    before = step;
    is_first = false;
  }
  return breaks;
}

// Returns, for each break, the instants at which something was recorded.
std::vector<Intervals> recorded_in(const Intervals& breaks,
                                   const std::vector<EventColumns>& parts) {
  std::vector<Intervals> recorded(breaks.size());
  const auto add = [&](const Interval& time) {
    auto window = std::ranges::upper_bound(breaks, time.from_ns, {}, &Interval::to_ns);
    for (; window != breaks.end() && window->from_ns < time.to_ns; ++window)
      recorded[static_cast<std::size_t>(window - breaks.begin())].push_back(time);
  };
  for (const EventColumns& part : parts) for_each_time(part, add);
  for (Intervals& times : recorded) times = unite(std::move(times));
  return recorded;
}

}  // namespace

void leave_out_startup(std::vector<RankEvents>& ranks) {
  std::set<StepKey> startup;
  // Iterations that process prompts take many times as long as those that do not.
  for (const RankEvents& rank : ranks)
    if (rank.steps.kind != StepKind::none && rank.steps.kind != StepKind::iterations)
      add_startup(rank.steps, startup);
  if (startup.empty()) return;
  for (RankEvents& rank : ranks)
    rank.steps.list.rewrite([&](Step& step) {
      if (step.counted && startup.contains(key_of(step))) {
        step.counted = false;
        ++rank.steps.startup;
      }
      return true;
    });
}

Intervals find_unrecorded(const std::vector<EventColumns>& parts, const StepList& steps) {
  Intervals unrecorded;
  const bool several = std::ranges::any_of(
      parts, [&](const EventColumns& part) { return part.file != parts.front().file; });
  if (several) {
    const Intervals times = times_of_files(parts);
    for (std::size_t i = 1; i < times.size(); ++i)
      unrecorded.push_back({times[i - 1].to_ns, times[i].from_ns});
  }
  const Intervals breaks = find_breaks(steps);
  if (breaks.empty()) return unrecorded;
  const std::vector<Intervals> recorded = recorded_in(breaks, parts);
  for (std::size_t i = 0; i < breaks.size(); ++i)
    unrecorded.push_back(longest_free(breaks[i], recorded[i]));
  return unite(std::move(unrecorded));
}

bool holds_any(const Intervals& set, const Interval& window) {
  const auto after = std::ranges::upper_bound(set, window.from_ns, {}, &Interval::to_ns);
  return after != set.end() && after->from_ns < window.to_ns;
}

}  // namespace traceloom
