// ExposedCommunication: how much longer a rank communicates in the open than another one.
//
//   ExposedCommunication exposed(matched, roles, places);
//   exposed.longer_ns(rank, other, step)
//
// A wait that work of the device hides still pushes later collectives out from behind the work.
// Then the rank's exposed communication is longer than that of the rank it waits for. It may also
// be longer since the rank has more to do in groups that the other does not belong to: what these
// take, without waiting, does not count.
#pragma once

#include "analysis/collectives/collectives.h"
#include "analysis/waits/rank_waits.h"

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
class ExposedCommunication {
 public:
  ExposedCommunication(const std::vector<Collective>& collectives,
                       const std::vector<RankRoles>& roles, const StepPlaces& places);

  // In one step of each; negative where it is shorter.
  std::int64_t longer_ns(std::size_t rank, std::size_t other, std::size_t step);

 private:
  using Groups = std::vector<ProcessGroup>;
  // Of a rank in some groups, by step.
  struct StepTimes {
    std::vector<std::int64_t> exposed_ns;
    std::vector<std::int64_t> latency_ns;  // from when all had come
  };
  struct Part {
    Interval time;
    std::int64_t latency_ns;
  };

  const StepTimes& times_in(std::size_t rank, Groups groups);
  const StepTimes& times_without(std::size_t rank, std::size_t other);
  StepTimes find_times(std::size_t rank, const Groups& groups) const;

  const std::vector<RankRoles>& roles_;
  const StepPlaces places_;
  std::vector<std::map<ProcessGroup, std::vector<Part>>> parts_;  // [rank]: by group
  std::map<std::pair<std::size_t, Groups>, StepTimes> found_;
  std::vector<const StepTimes*> all_;  // [rank]
  std::map<std::pair<std::size_t, std::size_t>, const StepTimes*> without_;
};

}  // namespace traceloom
