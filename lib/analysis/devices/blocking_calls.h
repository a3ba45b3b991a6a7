// BlockingCalls: finds the calls in which the host waits for a device. is_launching(): finds those
// that give work to it.
//
//   BlockingCalls blocking(run.labels);
//   if (blocking.holds(call)) use(run.labels.name(call.label), call.interval());
//
// Calls are recognised by name. The tables are in blocking_calls.cpp: a new runtime is a new line
// there.
#pragma once

#include "run/event_columns.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// Returns how long a call of that name lasts at least when it waits: 0 if it always waits, the
// numeric limit if it never does. A copy that is only launched returns at once; one from or to
// memory that is not pinned returns when it is done, whatever its name says.
std::int64_t least_blocking_ns(std::string_view call);

// True for the name of a call that gives work to a device: a kernel, a graph, a copy or a fill.
bool is_launching(std::string_view call);

// True for operators of torch that read a value from a device. They block, even if no calls were
// recorded.
bool is_reading_operator(std::string_view op);

// Remembers earlier look-ups. `labels` must outlive it.
class BlockingCalls {
 public:
  explicit BlockingCalls(const Labels& labels) : labels_(labels), least_ns_(labels.size(), -1) {}

  bool holds(const CallSpan& call) {
    std::int64_t& least_ns = least_ns_[call.label];
    if (least_ns < 0) least_ns = least_blocking_ns(labels_.name(call.label));
    return call.end_ns - call.start_ns >= least_ns;
  }

 private:
  const Labels& labels_;
  std::vector<std::int64_t> least_ns_;  // indexed by label; -1: not looked up
};

}  // namespace traceloom
