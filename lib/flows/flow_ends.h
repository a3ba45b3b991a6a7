// FlowEnds: gathers the flow events (s, t, f) of a chunk as numbers, for ArrowTally.
//
//   FlowEnds ends;
//   if (is_flow_phase(event.phase)) ends.add(event, timing.start_ns);
//   for (const FlowEnd& end : ends.all()) arrows.add(end);
//   ends.clear();                                              // for the next chunk
#pragma once

#include "event/event.h"
#include "flows/flow_id.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct FlowEnd {
  std::uint64_t arrow = 0;  // the same for all flow events of one category, name and id
  std::int64_t ns = 0;
  std::uint64_t offset = 0;
  bool is_start = false;  // it is an s
};

// Memory: 32 bytes a flow event. Not thread-safe.
class FlowEnds {
 public:
  // Ignores a flow event without an id: viewers draw no arrow for it.
  void add(const Event& event, std::int64_t start_ns);
  const std::vector<FlowEnd>& all() const { return ends_; }
  void clear() { ends_.clear(); }

 private:
  FlowLabel label_;
  std::string scratch_;
  std::vector<FlowEnd> ends_;
};

}  // namespace traceloom
