// Replay: the times of a network with other durations, for several of them at once.
//
//   Replay replay(maker.slots(), 2);
//   replay.run(step, network, {{}, {{loader, 0}}});       // step after step
//   replay.steps_ns()[1]                                 // ns of each step, summed over ranks
#pragma once

#include "analysis/replay/network.h"
#include "base/by_enum.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// A node that lasts for another time, without what it keeps (NetworkNode::kept_ns).
struct NodeDuration {
  std::uint32_t node = 0;
  std::int64_t duration_ns = 0;
};
// Ascending by node, each once.
using NodeDurations = std::vector<NodeDuration>;

// What the longest way through a step is spent on.
enum class PathClass : std::uint8_t {
  compute,
  copy,
  collective,
  message,
  lone,  // communication whose partners are not known
  launch,
  loader,
  count_
};
constexpr std::string_view to_string(PathClass what) {
  return name_in({"compute", "copy", "collectives", "p2p", "unknown", "launch", "loader"}, what);
}

// A part of the longest way, on one rank.
struct PathPiece {
  PathClass what = PathClass::compute;
  std::uint32_t rank = 0;
  std::uint32_t label = 0;  // of work
  Interval time;            // in the replay
  Interval recorded;
};

class Replay {
 public:
  // So many scenarios are computed together, which takes as long as two of them one by one.
  static constexpr std::size_t kLanes = 8;

  // `slots` is NetworkMaker::slots().
  Replay(std::size_t slots, std::size_t scenarios);

  // Replays a step with the changes of each scenario. Steps have to be taken in their order.
  void run(const JobStep& step, const StepNetwork& network,
           const std::vector<NodeDurations>& changes);

  // [scenario][step]: the length of the step, summed over the ranks.
  const std::vector<std::vector<std::int64_t>>& steps_ns() const { return steps_ns_; }

  // The longest way to the end of the step that was replayed last, in the first scenario, from the
  // end back to the begin of the step.
  std::vector<PathPiece> path(const StepNetwork& network, const JobWork& job) const;

 private:
  std::vector<std::int64_t> slots_;  // [slot * scenarios + scenario]
  std::size_t scenarios_ = 0;
  std::vector<std::vector<std::int64_t>> steps_ns_;
  std::vector<std::int64_t> times_;      // [node * kLanes + lane]
  std::vector<std::int64_t> durations_;  // likewise
  std::vector<std::int64_t> first_;      // times of the first scenario
};

}  // namespace traceloom
