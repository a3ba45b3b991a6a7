// HostTimeline: the activity of a thread of the host at any instant.
//
//   HostTimeline host(run, rank);
//   host.for_each_part(call.track, gap.time, [&](const HostPart& part) { use(part.op); });
//
// The activity is the innermost operator, annotation, wait for data or other span of the host: the
// one that began last (of several, the one that ends first), and the call of the runtime in it.
// Steps and Python frames surround everything that the host does, so they are no activity.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace traceloom {

struct HostPart {
  Interval time;
  std::string_view op;    // empty if nothing was recorded
  std::string_view call;  // empty outside of calls of the runtime
};

// Serves one rank; `run` must outlive it.
class HostTimeline {
 public:
  // Prepares only these tracks.
  HostTimeline(const Run& run, const RankEvents& rank, const std::set<std::uint32_t>& tracks);

  // Calls use(part) for parts that follow each other and fill `time`.
  template <typename Use>
  void for_each_part(std::uint32_t track, const Interval& time, Use use) const {
    for (const HostPart& part : parts_of(track, time)) use(part);
  }
  // Returns the op of the thread when `span` began; empty if nothing was recorded.
  std::string_view op_around(const HostSpan& span) const;

 private:
  struct Segment {
    Interval time;
    std::string_view name;
  };
  using Segments = std::vector<Segment>;
  struct Thread {
    Segments ops;
    Segments calls;
  };
  static Segments flatten(const Run& run, std::vector<HostSpan> spans);
  static Segments fill(const Segments& segments, const Interval& time);
  std::vector<HostPart> parts_of(std::uint32_t track, const Interval& time) const;

  std::map<std::uint32_t, Thread> threads_;
};

}  // namespace traceloom
