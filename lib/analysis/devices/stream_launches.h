// StreamLaunches: what the host launched on a stream, how long it then waited to begin, and how
// much was waiting.
//
//   for (const Launch& launch : find_launches(work)) delays.push_back(launch.delay_ns());
//   std::vector<QueueChange> queue = find_queue(launches);
//
// A launch is what one call gave to one stream: mostly one piece of work, of a CUDA graph many. It
// waits from the end of the call until its first piece begins, and is in the queue of its stream
// from the begin of the call until then.
#pragma once

#include "analysis/devices/device_work.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct Launch {
  const CallSpan* call;
  std::int64_t start_ns;       // of its first piece
  std::int64_t device_ns = 0;  // of all its pieces
  std::int64_t pieces = 0;

  std::int64_t call_ns() const { return call->end_ns - call->start_ns; }
  // 0 when it began before its call had ended.
  std::int64_t delay_ns() const { return start_ns > call->end_ns ? start_ns - call->end_ns : 0; }
  // To launch it took the host longer than to do it takes the device.
  bool is_short() const { return device_ns < call_ns(); }
};

// In the order in which they begin; work of which no launch was recorded is left out.
std::vector<Launch> find_launches(const WorkList& work);

// From `at_ns` on, until the next change, `length` launches wait.
struct QueueChange {
  std::int64_t at_ns;
  std::int64_t length;
};

// Two a launch, ascending. What is launched and what begins in the same nanosecond is launched
// first, so that no queue is shorter than empty. Work that begins before its call (the clocks of
// device and host differ) is launched when it begins.
std::vector<QueueChange> find_queue(const std::vector<Launch>& launches);

}  // namespace traceloom
