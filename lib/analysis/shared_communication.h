// SharedCommunication: how long a rank was in communication that it has with another one.
//
//   SharedCommunication shared(matched, roles, places);
//   shared.exposed_ns(rank, other, step) - shared.exposed_ns(other, rank, step)
//
// A wait that work of the device hides still pushes later collectives out from behind the work.
// Then the rank's exposed communication is longer than that of the rank it waits for, in what they
// do together: in a pipeline one of them may have more to do with others.
#pragma once

#include "analysis/collectives.h"
#include "analysis/rank_waits.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// Leaves of times that ascend by their begin what no work of the rank's devices hides. The roles
// must outlive it.
class ExposedTimes {
 public:
  explicit ExposedTimes(const RankRoles& roles);
  Intervals of(const Interval& time);

 private:
  IntervalWindows kernels_;
  IntervalWindows copies_;
  IntervalWindows fills_;
};

// Ranks are numbers in StepPlaces::ranks. Not thread-safe. What it is made of must outlive it.
class SharedCommunication {
 public:
  SharedCommunication(const std::vector<Collective>& collectives,
                      const std::vector<RankRoles>& roles, const StepPlaces& places);

  // In one step of `rank`: in collectives of the groups that `other` belongs to, without what is
  // hidden.
  std::int64_t exposed_ns(std::size_t rank, std::size_t other, std::size_t step);

 private:
  using Groups = std::vector<std::string>;
  using StepTimes = std::vector<std::int64_t>;  // [step]

  const StepTimes& times_with(std::size_t rank, std::size_t other);
  StepTimes find_times(std::size_t rank, const Groups& groups) const;

  const std::vector<RankRoles>& roles_;
  const StepPlaces places_;
  std::vector<std::map<std::string, Intervals>> parts_;  // [rank]: by group
  std::map<std::pair<std::size_t, Groups>, StepTimes> found_;
  std::map<std::pair<std::size_t, std::size_t>, const StepTimes*> of_pairs_;
};

}  // namespace traceloom
