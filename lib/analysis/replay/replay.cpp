#include "analysis/replay/replay.h"

#include <algorithm>

namespace traceloom {

Replay::Replay(std::size_t slots, std::size_t scenarios)
    : slots_(slots * scenarios), scenarios_(scenarios), steps_ns_(scenarios) {}

void Replay::run(const JobStep& step, const StepNetwork& network,
                 const std::vector<NodeDurations>& changes) {
  const std::size_t count = network.nodes.size();
  for (std::size_t from = 0; from < scenarios_; from += kLanes) {
    const std::size_t lanes = std::min(kLanes, scenarios_ - from);
    times_.assign(count * kLanes, 0);
    durations_.resize(count * kLanes);
    for (std::size_t node = 0; node < count; ++node)
      std::fill_n(&durations_[node * kLanes], kLanes, network.nodes[node].own_ns());
    for (std::size_t lane = 0; lane < lanes; ++lane)
      for (const NodeDuration& change : changes[from + lane])
        durations_[change.node * kLanes + lane] =
            network.nodes[change.node].kept_ns + change.duration_ns;
    for (std::size_t node = 0; node < count; ++node)
      if (network.nodes[node].kind == MomentKind::start)
        std::fill_n(&times_[node * kLanes], kLanes, network.nodes[node].at_ns);
    for (const SlotNode& start : network.starts)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        times_[start.node * kLanes + lane] = slots_[start.slot * scenarios_ + from + lane];
    for (const std::uint32_t node : network.order) {
      std::int64_t* const at = &times_[node * kLanes];
      const std::uint32_t end = network.first_edge[node + 1];
      std::uint32_t i = network.first_edge[node];
      if (i == end) continue;
      std::int64_t latest[kLanes];
      const std::int64_t* before = &times_[network.edges[i].from * kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        latest[lane] = before[lane] + network.edges[i].lag_ns;
      for (++i; i < end; ++i) {
        before = &times_[network.edges[i].from * kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          latest[lane] = std::max(latest[lane], before[lane] + network.edges[i].lag_ns);
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        at[lane] = latest[lane] + durations_[node * kLanes + lane];
    }
    for (const SlotNode& last : network.last)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        slots_[last.slot * scenarios_ + from + lane] = times_[last.node * kLanes + lane];
    for (std::size_t lane = 0; lane < lanes && step.counted; ++lane) {
      std::int64_t sum_ns = 0;
      for (std::size_t rank = 0; rank < network.ends.size(); ++rank)
        sum_ns += times_[network.ends[rank] * kLanes + lane] -
                  times_[network.begins[rank] * kLanes + lane];
      steps_ns_[from + lane].push_back(sum_ns);
    }
    if (from == 0) {
      first_.resize(count);
      for (std::size_t node = 0; node < count; ++node) first_[node] = times_[node * kLanes];
    }
  }
}

namespace {

PathClass class_of(const NetworkNode& node, const JobWork& job) {
  switch (node.kind) {
    case MomentKind::compute:
      return PathClass::compute;
    case MomentKind::copy:
      return PathClass::copy;
    case MomentKind::loader:
      return PathClass::loader;
    case MomentKind::lone:
      return PathClass::lone;
    case MomentKind::meeting:
      return job.meetings[node.place].is_message ? PathClass::message : PathClass::collective;
    default:
      return PathClass::launch;
  }
}

}  // namespace

std::vector<PathPiece> Replay::path(const StepNetwork& network, const JobWork& job) const {
  std::vector<PathPiece> pieces;
  const auto add = [&](PathClass what, const NetworkNode& node, const Interval& time,
                       std::int64_t recorded_end_ns) {
    const std::int64_t ns = length_ns(time);
    if (ns > 0)
      pieces.push_back(
          {what, node.rank, node.label, time, {recorded_end_ns - ns, recorded_end_ns}});
  };
  std::uint32_t at =
      *std::ranges::max_element(network.ends, {}, [&](std::uint32_t node) { return first_[node]; });
  while (network.nodes[at].kind != MomentKind::start) {
    const NetworkNode& node = network.nodes[at];
    const std::int64_t began_ns = first_[at] - node.duration_ns;
    add(class_of(node, job), node, {began_ns, first_[at]}, node.at_ns);
    std::uint32_t before = at;
    for (std::uint32_t i = network.first_edge[at]; i < network.first_edge[at + 1]; ++i)
      if (first_[network.edges[i].from] + network.edges[i].lag_ns + node.kept_ns == began_ns)
        before = network.edges[i].from;
    if (before == at) break;
    add(PathClass::launch, node, {first_[before], began_ns}, node.at_ns - node.duration_ns);
    at = before;
  }
  return pieces;
}

}  // namespace traceloom
