// Operators: the spans of host threads as trees, with the device work that each launched.
//
//   Operators operators(run, rank);
//   for (const OperatorNode& node : operators.nodes()) use(node.host_self_ns,
//   node.device_total_ns);
//
// On each row spans nest by time; one that crosses the end of the span around it is taken for the
// next one. A call of the runtime belongs to the operator whose External id it has, if that was
// running, else to the innermost one around it; device work belongs to that of the call that
// launched it. The run must have been read with details.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace traceloom {

struct OperatorNode {
  std::uint32_t label;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t parent;  // kNoOperator at the top
  std::uint32_t children = 0;
  std::int64_t host_self_ns = 0;  // without operators and calls in it
  std::int64_t device_self_ns = 0;
  std::int64_t device_total_ns = 0;
  bool is_repeat = false;  // the only child of one of its own name: the same operator once more
  std::uint32_t track = 0;
};
inline constexpr std::uint32_t kNoOperator = std::numeric_limits<std::uint32_t>::max();

// Of one rank, which must outlive it.
class Operators {
 public:
  Operators(const Run& run, const RankEvents& rank);

  const std::vector<OperatorNode>& nodes() const { return nodes_; }
  // The operator that launched what has this correlation; kNoOperator when none did.
  std::uint32_t of_correlation(std::int64_t correlation) const;

 private:
  struct Call {
    HostSpan span;
    std::int64_t correlation;
    std::int64_t external;
    std::uint32_t around;  // the innermost operator on its row
  };
  void nest(const Run& run, const RankEvents& rank);
  std::uint32_t caller_of(const Call& call) const;
  void add_calls();
  void add_device_work(const RankEvents& rank);
  void mark_repeats();

  std::vector<Call> calls_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> externals_;  // ascending
  std::vector<OperatorNode> nodes_;                                // a parent before its children
  std::vector<std::pair<std::int64_t, std::uint32_t>> correlations_;  // ascending
};

}  // namespace traceloom
