#include "run/steps.h"

#include "run/launches.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace traceloom {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::vector<MarkedSpan> find_marks(const std::vector<EventColumns>& parts, SpanMark mark) {
  std::vector<MarkedSpan> found;
  for (const EventColumns& part : parts)
    for (const MarkedSpan& span : part.marks)
      if (span.mark == mark) found.push_back(span);
  std::stable_sort(found.begin(), found.end(), [](const MarkedSpan& a, const MarkedSpan& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  return found;
}

// One host range a step. A number that stands twice at the same time (two recorders of one process)
// is one step.
std::vector<Step> torch_steps(const std::vector<EventColumns>& parts) {
  std::vector<Step> steps;
  for (const MarkedSpan& span : find_marks(parts, SpanMark::step)) {
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

// When the device work of each step begins and ends.
struct DeviceWork {
  std::int64_t first_ns = kNever;
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

// The step that a call lies in; nothing when it lies in none, or not whole.
std::optional<std::size_t> step_around(const std::vector<Step>& steps, const Interval& call) {
  auto after =
      std::upper_bound(steps.begin(), steps.end(), call.from_ns,
                       [](std::int64_t ns, const Step& step) { return ns < step.host.from_ns; });
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
      const CallSpan* const call = launches.find(span.correlation);
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

// The end of the device work of steps before the first one that was recorded.
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
  const bool any =
      std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.device_ops > 0; });
  std::int64_t end_ns =
      any ? end_before(steps.front(), work.front(), not_launched) : steps.front().host.from_ns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    const std::int64_t from_ns = std::max(end_ns, step.host.from_ns);
    end_ns = std::max(from_ns, step.host.to_ns);
    if (step.device_ops > 0) end_ns = std::max(end_ns, work[i].last_ns);
    step.time = {from_ns, end_ns};
  }
}

void leave_out_tail(StepList& steps) {
  std::size_t kept = steps.list.size();
  while (kept > 0 && steps.list[kept - 1].device_ops == 0) --kept;
  if (kept == 0) return;
  const auto ops = [&](std::size_t i) { return steps.list[i].device_ops; };
  if (kept > 1 && ops(kept - 1) * 10 < ops(kept - 2) * 8) --kept;
  steps.dropped = steps.list.size() - kept;
  for (std::size_t i = kept; i < steps.list.size(); ++i) steps.list[i].counted = false;
}

// Of an X, which a merge has made, the args are those of its end; event/train_batch within it
// knows.
std::int64_t number_of(const MarkedSpan& batch, const std::vector<MarkedSpan>& trains) {
  if (!batch.is_merged) return batch.number;
  const auto inner = std::lower_bound(
      trains.begin(), trains.end(), batch.start_ns,
      [](const MarkedSpan& train, std::int64_t ns) { return train.start_ns < ns; });
  return inner != trains.end() && inner->start_ns < batch.end_ns ? inner->number : batch.number;
}

std::vector<Step> composer_steps(const std::vector<EventColumns>& parts, Intervals& probes) {
  const std::vector<MarkedSpan> trains = find_marks(parts, SpanMark::train_batch);
  std::vector<MarkedSpan> batches = find_marks(parts, SpanMark::batch);
  if (batches.empty()) batches = trains;
  const std::vector<MarkedSpan> loaders = find_marks(parts, SpanMark::loader);
  std::vector<Step> steps;
  steps.reserve(batches.size());
  std::size_t next = 0;
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  for (const MarkedSpan& batch : batches) {
    if (batch.start_ns < before_ns) continue;  // inside another: of another recorder
    Step step;
    step.number = number_of(batch, trains);
    step.epoch = batch.epoch;
    step.host = batch.interval();
    const MarkedSpan* wait = nullptr;
    for (; next < loaders.size() && loaders[next].start_ns <= batch.start_ns; ++next) {
      if (loaders[next].start_ns < before_ns) continue;
      if (wait != nullptr) probes.push_back(wait->interval());
      wait = &loaders[next];
    }
    step.time = step.host;
    if (wait != nullptr) step.time.from_ns = wait->start_ns;
    before_ns = batch.end_ns;
    steps.push_back(step);
  }
  for (; next < loaders.size(); ++next)
    if (loaders[next].start_ns >= before_ns) probes.push_back(loaders[next].interval());
  return steps;
}

// From the first to the last event of the host, else of devices.
std::vector<Step> one_step(const std::vector<EventColumns>& parts) {
  Interval all{kNever, std::numeric_limits<std::int64_t>::min()};
  const auto add = [&](const HostSpan& span) {
    all.from_ns = std::min(all.from_ns, span.start_ns);
    all.to_ns = std::max(all.to_ns, span.end_ns);
  };
  for (const EventColumns& part : parts) {
    for (const HostSpan& span : part.hosts) add(span);
    for (const HostSpan& span : part.operators) add(span);
  }
  if (all.to_ns < all.from_ns)
    for (const EventColumns& part : parts) {
      for (const HostSpan& span : part.calls) add(span);
      for (const HostSpan& span : part.devices) add(span);
    }
  if (all.to_ns < all.from_ns) return {};
  Step step;
  step.host = all;
  return {step};
}

}  // namespace

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::none:
      return "none";
    case StepKind::torch:
      return "ProfilerStep";
    case StepKind::composer:
      return "event/batch";
  }
  return "";
}

Intervals StepList::times() const {
  Intervals times;
  times.reserve(list.size());
  for (const Step& step : list) times.push_back(step.time);
  return times;
}

StepList find_steps(const std::vector<EventColumns>& parts) {
  StepList steps;
  steps.kind = StepKind::torch;
  steps.list = torch_steps(parts);
  if (steps.list.empty()) {
    steps.kind = StepKind::composer;
    steps.list = composer_steps(parts, steps.probes);
  }
  if (!steps.list.empty() && steps.kind == StepKind::composer) return steps;
  if (steps.list.empty()) {
    steps.kind = StepKind::none;
    steps.list = one_step(parts);
  }
  if (steps.list.empty()) return steps;
  extend_by_devices(parts, steps.list);
  if (steps.list.size() > 1) leave_out_tail(steps);
  return steps;
}

}  // namespace traceloom
