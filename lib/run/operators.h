// Operators: the operators of host threads as trees, with the device work that each of them
// launched.
//
//   Operators operators(run, rank);
//   for (const OperatorNode& node : operators.nodes()) use(node.host_self_ns,
//   node.device_total_ns);
//
// Operators and calls of the runtime on one row nest by time (see SpanStack), which gives host
// times. A call on another row belongs to the operator whose External id it has. Device work
// belongs to:
// 1. the operator whose External id the launching call has, if that operator was running;
// 2. otherwise the innermost operator around the launching call;
// 3. if no launching call was recorded, the operator whose External id the work itself has.
//
// Ids are looked up by the rule of IdIndex. The run must have been read with details.
#pragma once

#include "run/host_order.h"
#include "run/id_index.h"
#include "run/run.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

// Takes 64 bytes, because runs have millions of them.
struct OperatorNode {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t label;
  std::uint32_t track;
  std::uint32_t parent;           // index in nodes(); kNoOperator at the top
  std::uint32_t arguments;        // number in Run::details, as in OperatorSpan
  std::int64_t host_self_ns = 0;  // time without the operators and calls in it
  std::int64_t device_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::uint32_t children = 0;
  bool is_repeat = false;  // the only child of an operator with the same name: the same operator
                           // once more
};
inline constexpr std::uint32_t kNoOperator = std::numeric_limits<std::uint32_t>::max();

// The operators of one rank; the rank and the run must outlive them.
class Operators {
 public:
  Operators(const Run& run, const RankEvents& rank);

  const std::vector<OperatorNode>& nodes() const { return nodes_; }
  // Returns the operator that launched this work, or kNoOperator if none is known.
  std::uint32_t launcher_of(const DeviceSpan& span) const;

 private:
  struct Call {
    CallSpan span;
    std::uint32_t around;  // the innermost operator on the call's row
  };

  void reserve(const RankEvents& rank);
  std::vector<Call> nest(const RankEvents& rank);
  std::uint32_t caller_of(const Call& call) const;
  void add_calls(const std::vector<Call>& calls);
  void add_device_work(const RankEvents& rank);
  void mark_repeats(const Labels& labels);

  const Tracks& tracks_;
  IdIndex<std::uint32_t> externals_;
  std::vector<OperatorNode> nodes_;      // parents stand before their children
  IdIndex<std::uint32_t> correlations_;  // for all recorded calls, also those of no operator
};

}  // namespace traceloom
