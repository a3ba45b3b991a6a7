// Launches: which call of the host launched a piece of device work.
//
//   Launches launches(rank.parts);
//   if (const CallSpan* call = launches.find(span.correlation)) delay = span.start_ns -
//   call->end_ns;
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

  // nullptr when no call has that correlation. Of several the first one in time counts.
  const CallSpan* find(std::int64_t correlation) const;

 private:
  std::vector<std::pair<std::int64_t, const CallSpan*>> calls_;  // ascending by correlation
};

}  // namespace traceloom
