// find_launches, find_queue: the launches of a stream, how long each waited to begin, and the
// length of the queue.
//
//   for (const Launch& launch : find_launches(work)) delays.push_back(launch.delay_ns());
//   std::vector<QueueChange> queue = find_queue(launches);
//
// A launch is the work that one call gave to one stream: mostly one piece, many for a CUDA graph.
// It waits from the end of the call until its first piece begins, and is in the queue of its stream
// from the begin of the call until then.
#pragma once

#include "analysis/devices/device_work.h"

#include <cstdint>
#include <vector>

namespace traceloom {

struct Launch {
  const CallSpan* call;
  std::int64_t start_ns;       // start of its first piece
  std::int64_t device_ns = 0;  // time of all its pieces
  std::int64_t pieces = 0;

  std::int64_t call_ns() const { return call->end_ns - call->start_ns; }
  // Returns 0 if it began before the end of its call.
  std::int64_t delay_ns() const { return start_ns > call->end_ns ? start_ns - call->end_ns : 0; }
  // True if launching it took the host longer than the device needed for it.
  bool is_short() const { return device_ns < call_ns(); }
};

// Sorted by begin; work without a recorded launch is left out.
std::vector<Launch> find_launches(const WorkList& work);

// From `at_ns` until the next change, `length` launches wait.
struct QueueChange {
  std::int64_t at_ns;
  std::int64_t length;
};

// Returns two changes for each launch, ascending. In the same nanosecond, launches come before
// begins, so that the length never gets negative. Work that begins before its call (the clocks of
// device and host differ) counts as launched when it begins.
std::vector<QueueChange> find_queue(const std::vector<Launch>& launches);

}  // namespace traceloom
