#include "run/recorded_times.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace traceloom {
namespace {

template <typename Use>
void for_each_time(const EventColumns& part, Recorded what, Use use) {
  if (what != Recorded::device) {
    for (const HostSpan& span : part.hosts) use(span.interval());
    for (const HostSpan& span : part.operators) use(span.interval());
  }
  if (what != Recorded::host) {
    for (const HostSpan& span : part.calls) use(span.interval());
    for (const HostSpan& span : part.devices) use(span.interval());
  }
  if (what == Recorded::all)
    for (const MarkedSpan& span : part.marks)
      if (span.mark != SpanMark::module) use(span.interval());
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

// Returns the first interval of the set that ends after that moment.
Intervals::const_iterator first_behind(const Intervals& set, std::int64_t ns) {
  return std::upper_bound(set.begin(), set.end(), ns, [](std::int64_t moment, const Interval& one) {
    return moment < one.to_ns;
  });
}

// Returns, for each break, the instants at which something was recorded.
std::vector<Intervals> recorded_in(const Intervals& breaks,
                                   const std::vector<EventColumns>& parts) {
  std::vector<Intervals> recorded(breaks.size());
  const auto add = [&](const Interval& time) {
    auto window = first_behind(breaks, time.from_ns);
    for (; window != breaks.end() && window->from_ns < time.to_ns; ++window)
      recorded[static_cast<std::size_t>(window - breaks.begin())].push_back(time);
  };
  for (const EventColumns& part : parts) for_each_time(part, Recorded::all, add);
  for (Intervals& times : recorded) times = unite(std::move(times));
  return recorded;
}

}  // namespace

Intervals times_of_files(const std::vector<EventColumns>& parts, Recorded what) {
  std::map<std::size_t, Interval> files;
  for (const EventColumns& part : parts)
    for_each_time(part, what, [&](const Interval& time) {
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

Intervals find_unrecorded(const std::vector<EventColumns>& parts, const StepList& steps) {
  Intervals unrecorded;
  const bool several = std::any_of(parts.begin(), parts.end(), [&](const EventColumns& part) {
    return part.file != parts.front().file;
  });
  if (several) {
    const Intervals times = times_of_files(parts, Recorded::all);
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
  const auto after = first_behind(set, window.from_ns);
  return after != set.end() && after->from_ns < window.to_ns;
}

}  // namespace traceloom
