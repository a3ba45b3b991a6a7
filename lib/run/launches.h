// Launches: which call of the host launched a piece of device work.
//
//   Launches launches(rank.parts);
//   if (const CallSpan* call = launches.find(span)) delay = span.start_ns - call->end_ns;
#pragma once

#include "run/event_columns.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom {

// Of one rank. A call may have launched several pieces (CUDA graphs). The parts must outlive it.
class Launches {
 public:
  explicit Launches(const std::vector<EventColumns>& parts);
  // And calls that are in no part: RankEvents::calls_outside, which must outlive it as well.
  Launches(const std::vector<EventColumns>& parts, const std::vector<CallSpan>& outside);

  // nullptr when no call has that correlation. Of several the first one in time counts.
  const CallSpan* find(std::int64_t correlation) const;
  // Of several the last one that had begun when the work began (a profiler that was started again
  // may count from 1 again), else the first one.
  const CallSpan* find(const DeviceSpan& work) const;

 private:
  using Entry = std::pair<std::int64_t, const CallSpan*>;
  void add(const std::vector<CallSpan>& calls);
  void sort();
  std::vector<Entry>::const_iterator first_of(std::int64_t correlation) const;

  std::vector<Entry> calls_;  // ascending by correlation
};

}  // namespace traceloom
