// Operators: the operators of host threads as trees, with the device work that each launched.
//
//   Operators operators(run, rank);
//   for (const OperatorNode& node : operators.nodes()) use(node.host_self_ns,
//   node.device_total_ns);
//
// On each row operators and calls of the runtime nest by time (see SpanStack), which gives host
// times; a call on another row that has the External id of an operator is in that
// one. Device work belongs to the operator whose External id the call that launched it has, if
// that was running, else to the innermost one around the call; where no such call was recorded, to
// the operator whose External id the work itself has. Ids count as IdIndex tells. The run must have
// been read with details.
#pragma once

#include "run/host_order.h"
#include "run/id_index.h"
#include "run/run.h"

#include <cstdint>
#include <limits>
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
  std::uint32_t arguments = kNoDetail;  // as OperatorSpan
};
inline constexpr std::uint32_t kNoOperator = std::numeric_limits<std::uint32_t>::max();

// Of one rank, which must outlive it, as the run must.
class Operators {
 public:
  Operators(const Run& run, const RankEvents& rank);

  const std::vector<OperatorNode>& nodes() const { return nodes_; }
  // The operator that gave this work to the device; kNoOperator when none is known.
  std::uint32_t launcher_of(const DeviceSpan& span) const;

 private:
  struct Call {
    CallSpan span;
    std::uint32_t around;  // the innermost operator on its row
  };

  std::vector<Call> nest(const RankEvents& rank);
  std::uint32_t caller_of(const Call& call) const;
  void add_calls(const std::vector<Call>& calls);
  void add_device_work(const RankEvents& rank);
  void mark_repeats(const Labels& labels);

  const Tracks& tracks_;
  IdIndex<std::uint32_t> externals_;
  std::vector<OperatorNode> nodes_;      // a parent before its children
  IdIndex<std::uint32_t> correlations_;  // of all calls that were recorded, also of no operator
};

}  // namespace traceloom
