#include "run/operators.h"

#include <algorithm>

namespace traceloom {
namespace {

// A span of a row, in the order in which they open: an outer one before those in it.
struct Piece {
  HostSpan span;
  bool is_call;
  std::int64_t correlation;
  std::int64_t external;

  bool operator<(const Piece& other) const {
    if (span.track != other.span.track) return span.track < other.span.track;
    if (span.start_ns != other.span.start_ns) return span.start_ns < other.span.start_ns;
    if (span.end_ns != other.span.end_ns) return span.end_ns > other.span.end_ns;
    return !is_call && other.is_call;
  }
};

std::vector<Piece> pieces_of(const Run& run, const RankEvents& rank) {
  std::vector<Piece> pieces;
  rank.for_each_mark([&](const MarkedSpan& span) {
    const bool is_one = span.mark == SpanMark::operation ||
                        (span.mark == SpanMark::collective &&
                         is_operator(run.labels.name(span.label), run.labels.category(span.label)));
    if (is_one) pieces.push_back({span, false, kNoId, span.number});
  });
  rank.for_each_call([&](const CallSpan& span) {
    pieces.push_back({span, true, span.correlation, span.external});
  });
  std::stable_sort(pieces.begin(), pieces.end());
  return pieces;
}

bool contains(const OperatorNode& node, const HostSpan& span) {
  return node.start_ns <= span.start_ns && span.end_ns <= node.end_ns;
}

}  // namespace

Operators::Operators(const Run& run, const RankEvents& rank) {
  nest(run, rank);
  add_calls();
  add_device_work(rank);
  mark_repeats();
}

void Operators::nest(const Run& run, const RankEvents& rank) {
  std::vector<std::uint32_t> open;
  std::uint32_t track = std::numeric_limits<std::uint32_t>::max();
  for (const Piece& piece : pieces_of(run, rank)) {
    const HostSpan& span = piece.span;
    if (span.track != track) open.clear();
    track = span.track;
    while (!open.empty() &&
           (nodes_[open.back()].end_ns < span.end_ns ||
            (nodes_[open.back()].end_ns <= span.start_ns && span.start_ns < span.end_ns)))
      open.pop_back();
    const std::uint32_t around = open.empty() ? kNoOperator : open.back();
    if (piece.is_call) {
      calls_.push_back({span, piece.correlation, piece.external, around});
      continue;
    }
    const std::int64_t length_ns = span.end_ns - span.start_ns;
    if (around != kNoOperator) {
      nodes_[around].host_self_ns -= length_ns;
      ++nodes_[around].children;
    }
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    open.push_back(node);
    if (piece.external != kNoId) externals_.emplace_back(piece.external, node);
    nodes_.push_back(
        {span.label, span.start_ns, span.end_ns, around, 0, length_ns, 0, 0, false, span.track});
  }
  std::sort(externals_.begin(), externals_.end());
}

// The External id counts where the operator that has it was running; an id of another kind of
// counter would lead anywhere.
std::uint32_t Operators::caller_of(const Call& call) const {
  const auto first = std::lower_bound(externals_.begin(), externals_.end(),
                                      std::pair{call.external, std::uint32_t{0}});
  for (auto entry = first; entry != externals_.end() && entry->first == call.external; ++entry)
    if (call.external != kNoId && contains(nodes_[entry->second], call.span)) return entry->second;
  return call.around;
}

void Operators::add_calls() {
  for (const Call& call : calls_) {
    const std::uint32_t node = caller_of(call);
    if (node == kNoOperator) continue;
    nodes_[node].host_self_ns -= call.span.end_ns - call.span.start_ns;
    if (call.correlation != kNoId) correlations_.emplace_back(call.correlation, node);
  }
  calls_ = {};
  std::sort(correlations_.begin(), correlations_.end());
}

void Operators::add_device_work(const RankEvents& rank) {
  rank.for_each_device([&](const DeviceSpan& span) {
    const std::uint32_t node = of_correlation(span.correlation);
    if (node != kNoOperator) nodes_[node].device_self_ns += span.end_ns - span.start_ns;
  });
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    OperatorNode& node = nodes_[i];
    node.device_total_ns += node.device_self_ns;
    if (node.parent != kNoOperator) nodes_[node.parent].device_total_ns += node.device_total_ns;
  }
}

void Operators::mark_repeats() {
  for (OperatorNode& node : nodes_) {
    if (node.parent == kNoOperator) continue;
    OperatorNode& parent = nodes_[node.parent];
    if (parent.children != 1 || parent.label != node.label) continue;
    node.is_repeat = true;
  }
  // What a repeat did itself, the first of its name did; inner ones before outer ones.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    OperatorNode& node = nodes_[i];
    if (!node.is_repeat) continue;
    nodes_[node.parent].host_self_ns += node.host_self_ns;
    nodes_[node.parent].device_self_ns += node.device_self_ns;
  }
}

std::uint32_t Operators::of_correlation(std::int64_t correlation) const {
  if (correlation == kNoId) return kNoOperator;
  const auto found = std::lower_bound(correlations_.begin(), correlations_.end(),
                                      std::pair{correlation, std::uint32_t{0}});
  return found != correlations_.end() && found->first == correlation ? found->second : kNoOperator;
}

}  // namespace traceloom
