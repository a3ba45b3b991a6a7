// StepFinder: finds the times of the steps that all ranks have, on one of the ranks.
//
//   const StepFinder steps(roles[rank], waits.step_index[rank]);
//   if (const auto step = steps.step_at(span.start_ns)) use(*step);
#pragma once

#include "analysis/waits/rank_waits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace traceloom {

class StepFinder {
 public:
  // `index` is as in RankWaits::step_index.
  StepFinder(const RankRoles& roles, const std::vector<std::uint32_t>& index);

  std::optional<std::size_t> step_at(std::int64_t ns) const;
  const Interval& time(std::size_t step) const { return times_[step]; }
  // Returns the number of instants (ns) of the set in each step.
  std::vector<std::int64_t> totals(const Intervals& set) const;

 private:
  Intervals times_;    // indexed by step
  Intervals windows_;  // the same, sorted by begin
  std::vector<std::size_t> steps_;
};

}  // namespace traceloom
