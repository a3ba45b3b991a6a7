#include "analysis/waits/step_finder.h"

#include <algorithm>
#include <numeric>

namespace traceloom {

StepFinder::StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index)
    : times_(index.size()), steps_(index.size()) {
  for_each_shared(roles.steps, index, [&](std::size_t step, const StepRoles& found) {
    times_[step] = found.step.time;
  });
  std::iota(steps_.begin(), steps_.end(), std::size_t{0});
  std::sort(steps_.begin(), steps_.end(),
            [&](std::size_t a, std::size_t b) { return times_[a].from_ns < times_[b].from_ns; });
  windows_.reserve(steps_.size());
  for (const std::size_t step : steps_) windows_.push_back(times_[step]);
}

std::optional<std::size_t> StepFinder::step_at(std::int64_t ns) const {
  const auto next =
      std::upper_bound(windows_.begin(), windows_.end(), ns,
                       [](std::int64_t at, const Interval& step) { return at < step.from_ns; });
  if (next == windows_.begin() || ns >= (next - 1)->to_ns) return std::nullopt;
  return steps_[static_cast<std::size_t>(next - windows_.begin()) - 1];
}

std::vector<std::int64_t> StepFinder::totals(const Intervals& set) const {
  const std::vector<std::int64_t> by_begin = totals_in(set, windows_);
  std::vector<std::int64_t> totals(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) totals[steps_[i]] = by_begin[i];
  return totals;
}

}  // namespace traceloom
