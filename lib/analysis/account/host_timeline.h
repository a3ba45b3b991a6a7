// HostTimeline: the activity of threads of the host at any instant.
//
//   HostTimeline host(run, rank, {call.track});
//   for (const HostPart& part : host.parts_of(call.track, gap.time)) use(part.op);
//
// The activity is the innermost operator, wait for data or other span of the host: the one that
// began last (of several, the one that ends first), and the call of the runtime in it. Steps,
// annotations and Python frames surround what the host does, so they are no activity.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace traceloom {

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};

struct HostPart {
  Interval time;
  std::string_view op;    // empty if nothing was recorded
  std::string_view call;  // empty outside of calls of the runtime
};

// Serves one rank; `run` must outlive it.
class HostTimeline {
 public:
  // Prepares only these tracks and, if `windows` are given, only these times.
  HostTimeline(const Run& run, const RankEvents& rank, const std::set<std::uint32_t>& tracks,
               const Intervals* windows = nullptr);

  // Returns parts that follow each other and fill `time`.
  std::vector<HostPart> parts_of(std::uint32_t track, const Interval& time) const;
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

  std::map<std::uint32_t, Thread> threads_;
};

// Returns the thread whose operators, other spans and calls take most time together; kNoTrack if
// there are none.
std::uint32_t busiest_thread(const RankEvents& rank);

// Sorts spans by begin. A span within another is left out; one that ends later begins at the
// other's end.
void remove_overlaps(std::vector<HostSpan>& spans);

}  // namespace traceloom
