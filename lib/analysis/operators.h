// The spans of host threads in order, as stacks and as trees of operators with the device work
// they launched.
#pragma once

#include "run/launches.h"
#include "run/run.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace traceloom {

// SpanStack: finds the span around a span of a row, and each span's own time.
//
//   SpanStack stack;
//   for (const HostSpan& span : sorted) {                      // by start, longer ones first
//     const SpanStack::Place place = stack.find(span.start_ns, span.end_ns);
//     if (place.around != SpanStack::kNone) self_ns[place.around] -= place.counted_ns;
//     stack.push(node++, span.end_ns, place);                  // unless it has none in it
//   }
//
// Spans nest by time. If a span crosses the end of the span in which it starts, it becomes that
// span's sibling, and the time that both share counts for the earlier one. So no instant counts
// twice. The own time of a span is its counted time without that of its children; the own times of
// all spans of a row add up to the time in which any of them runs.

class SpanStack {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Place {
    std::uint32_t around = kNone;  // node of the innermost span around it
    std::int64_t counted_ns = 0;   // nanoseconds of its length that count
    bool crosses = false;          // it crosses the end of another span
  };

  // Returns the place of the next span of the row.
  Place find(std::int64_t start_ns, std::int64_t end_ns) {
    std::int64_t from_ns = start_ns;
    bool crosses = false;
    while (!open_.empty() && !holds(open_.back(), start_ns, end_ns)) {
      if (open_.back().end_ns > start_ns) {
        crosses = true;
        from_ns = std::max(from_ns, open_.back().end_ns);
      }
      open_.pop_back();
    }
    if (!open_.empty()) from_ns = std::max(from_ns, open_.back().from_ns);
    const std::uint32_t around = open_.empty() ? kNone : open_.back().node;
    return {around, end_ns - std::min(from_ns, end_ns), crosses};
  }

  // Returns the innermost span around a span that does not belong to the row itself.
  std::uint32_t around(std::int64_t start_ns, std::int64_t end_ns) const {
    for (std::size_t i = open_.size(); i-- > 0;)
      if (holds(open_[i], start_ns, end_ns)) return open_[i].node;
    return kNone;
  }

  // Opens a span, which then can be the `around` of later ones as `node`.
  void push(std::uint32_t node, std::int64_t end_ns, const Place& place) {
    open_.push_back({node, end_ns - place.counted_ns, end_ns});
  }

  // Starts another row.
  void clear() { open_.clear(); }

 private:
  struct Open {
    std::uint32_t node;
    std::int64_t from_ns;  // start of the time that counts
    std::int64_t end_ns;
  };

  // A span without length at the end of another span lies in that span.
  static bool holds(const Open& outer, std::int64_t start_ns, std::int64_t end_ns) {
    return end_ns <= outer.end_ns && (start_ns < outer.end_ns || start_ns == end_ns);
  }

  std::vector<Open> open_;
};

// HostOrder: the spans of a rank's host threads, row by row, outer spans before the spans in them.
//
//   HostOrder order(rank, true);
//   for (const HostRef& ref : order.refs()) use(order.span(ref).start_ns, ref.kind());
//
// It takes eight bytes a span: the spans stay in the columns, unless they are packed there.

// If two spans begin and end together, the span of the smaller kind is the outer one.
enum class HostKind : std::uint8_t { frame, host, operation, call };
inline constexpr std::size_t kHostKinds = 4;

// The place of a span in the columns of its rank.
class HostRef {
 public:
  HostRef(std::size_t part, HostKind kind, std::size_t row)
      : part_(static_cast<std::uint32_t>(part)),
        kind_and_row_(static_cast<std::uint32_t>(kind) << kRowBits |
                      static_cast<std::uint32_t>(row)) {}

  std::size_t part() const { return part_; }
  HostKind kind() const { return static_cast<HostKind>(kind_and_row_ >> kRowBits); }
  std::size_t row() const { return kind_and_row_ & ((std::uint32_t{1} << kRowBits) - 1); }
  // Of one kind, the lesser one stands before the other in the files.
  friend auto operator<=>(const HostRef&, const HostRef&) = default;

 private:
  static constexpr unsigned kRowBits = 30;  // a part holds only one chunk of text

  std::uint32_t part_;
  std::uint32_t kind_and_row_;
};

// Orders the spans of one rank; the rank must outlive it.
class HostOrder {
 public:
  // Operators and calls are always there; frames and hosts only if `all_kinds`.
  HostOrder(const RankEvents& rank, bool all_kinds);

  // Sorted by row, then by start, longer spans first.
  const std::vector<HostRef>& refs() const { return refs_; }
  const HostSpan& span(const HostRef& ref) const;
  // These two take only refs of their kind.
  const OperatorSpan& operation(const HostRef& ref) const {
    return rank_.parts[ref.part()].operators[ref.row()];
  }
  const CallSpan& call(const HostRef& ref) const {
    return rank_.parts[ref.part()].calls[ref.row()];
  }

 private:
  using Refs = std::vector<HostRef>;

  const std::vector<HostSpan>& frames_of(std::size_t part) const {
    return frames_[part].empty() ? rank_.parts[part].frames : frames_[part];
  }
  template <typename Span>
  void add(std::size_t part, HostKind kind, const std::vector<Span>& spans);
  // Moves the runs of a row to refs_.
  void merge_runs(std::array<Refs, kHostKinds>& runs);

  const RankEvents& rank_;
  std::vector<std::vector<HostSpan>> hosts_;   // unpacked hosts of each part
  std::vector<std::vector<HostSpan>> frames_;  // and its frames, if it has all of them beside
  // Spans of one kind and row mostly stand in order in a file, so that merging is faster than
  // sorting them all.
  std::map<std::uint32_t, std::array<Refs, kHostKinds>> runs_;  // by row
  Refs refs_;
};

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
