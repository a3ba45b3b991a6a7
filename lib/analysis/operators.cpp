#include "analysis/operators.h"

#include "base/arithmetic.h"

namespace traceloom {
namespace {

// Rows that can be looked up.
std::vector<HostSpan> unpacked(const PackedRows<HostSpan>& packed) {
  std::vector<HostSpan> rows;
  rows.reserve(packed.size());
  for (const HostSpan& span : packed) rows.push_back(span);
  return rows;
}

}  // namespace

HostOrder::HostOrder(const RankEvents& rank, bool all_kinds) : rank_(rank) {
  for (std::size_t i = 0; i < rank.parts.size(); ++i) {
    const EventColumns& part = rank.parts[i];
    if (all_kinds) {
      hosts_.push_back(unpacked(part.hosts));
      frames_.push_back(unpacked(part.all_frames));
      add(i, HostKind::frame, frames_of(i));
      add(i, HostKind::host, hosts_[i]);
    }
    add(i, HostKind::operation, part.operators);
    add(i, HostKind::call, part.calls);
  }
  std::size_t count = 0;
  for (const auto& [track, runs] : runs_)
    for (const Refs& run : runs) count += run.size();
  refs_.reserve(count);
  for (auto& [track, runs] : runs_) merge_runs(runs);
  runs_.clear();
}

template <typename Span>
void HostOrder::add(std::size_t part, HostKind kind, const std::vector<Span>& spans) {
  Refs* run = nullptr;
  std::uint32_t track = 0;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (run == nullptr || spans[row].track != track) {
      track = spans[row].track;
      run = &runs_[track][static_cast<std::size_t>(kind)];
    }
    run->emplace_back(part, kind, row);
  }
}

void HostOrder::merge_runs(std::array<Refs, kHostKinds>& runs) {
  const auto comes_before = [this](const HostRef& a, const HostRef& b) {
    const HostSpan& first = span(a);
    const HostSpan& second = span(b);
    if (first.start_ns != second.start_ns) return first.start_ns < second.start_ns;
    if (first.end_ns != second.end_ns) return first.end_ns > second.end_ns;
    return a.kind() != b.kind() ? a.kind() < b.kind() : a < b;
  };
  const auto begin = static_cast<std::ptrdiff_t>(refs_.size());
  for (Refs& run : runs) {
    if (!std::ranges::is_sorted(run, comes_before)) std::sort(run.begin(), run.end(), comes_before);
    const auto middle = static_cast<std::ptrdiff_t>(refs_.size());
    refs_.insert(refs_.end(), run.begin(), run.end());
    std::inplace_merge(refs_.begin() + begin, refs_.begin() + middle, refs_.end(), comes_before);
    run = {};
  }
}

const HostSpan& HostOrder::span(const HostRef& ref) const {
  const EventColumns& part = rank_.parts[ref.part()];
  switch (ref.kind()) {
    case HostKind::frame:
      return frames_of(ref.part())[ref.row()];
    case HostKind::host:
      return hosts_[ref.part()][ref.row()];
    case HostKind::operation:
      return part.operators[ref.row()];
    case HostKind::call:
      break;
  }
  return part.calls[ref.row()];
}

namespace {

bool contains(const OperatorNode& node, const HostSpan& span) {
  return node.start_ns <= span.start_ns && span.end_ns <= node.end_ns;
}

// On a SpanStack, a call is represented by the operator around it with this bit set. kNoOperator
// has the bit, too.
constexpr std::uint32_t kCallBit = std::uint32_t{1} << 31;

std::uint32_t operator_around(const SpanStack::Place& place) {
  return place.around == SpanStack::kNone ? kNoOperator : place.around & ~kCallBit;
}

}  // namespace

Operators::Operators(const Run& run, const RankEvents& rank) : tracks_(run.tracks) {
  reserve(rank);
  add_calls(nest(rank));
  add_device_work(rank);
  mark_repeats(run.labels);
}

// Lists that grow would touch several times the memory.
void Operators::reserve(const RankEvents& rank) {
  std::size_t operators = 0;
  std::size_t calls = 0;
  for (const EventColumns& part : rank.parts) {
    operators += part.operators.size();
    calls += part.calls.size();
  }
  nodes_.reserve(operators);
  externals_.reserve(operators);
  correlations_.reserve(calls);
}

std::vector<Operators::Call> Operators::nest(const RankEvents& rank) {
  const HostOrder order(rank, false);
  std::vector<Call> calls;
  SpanStack open;
  std::uint32_t track = std::numeric_limits<std::uint32_t>::max();
  for (const HostRef& ref : order.refs()) {
    const HostSpan& span = order.span(ref);
    if (span.track != track) open.clear();
    track = span.track;
    const SpanStack::Place place = open.find(span.start_ns, span.end_ns);
    const std::uint32_t around = operator_around(place);
    // A call inside another call (the driver's in the runtime's) was already subtracted with the
    // outer one.
    if (place.around == around && around != kNoOperator)
      nodes_[around].host_self_ns -= place.counted_ns;
    if (ref.kind() == HostKind::call) {
      open.push(kCallBit | around, span.end_ns, place);
      calls.push_back({order.call(ref), around});
      continue;
    }
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    open.push(node, span.end_ns, place);
    if (around != kNoOperator) ++nodes_[around].children;
    const OperatorSpan& operation = order.operation(ref);
    externals_.add(tracks_.file(span.track), operation.external, span.start_ns, node);
    nodes_.push_back({.start_ns = span.start_ns,
                      .end_ns = span.end_ns,
                      .label = span.label,
                      .track = span.track,
                      .parent = around,
                      .arguments = operation.arguments,
                      .host_self_ns = place.counted_ns});
  }
  externals_.sort();
  return calls;
}

// Uses the External id only if the operator that has it was running; an id of another numbering
// would lead to a random operator.
std::uint32_t Operators::caller_of(const Call& call) const {
  const std::uint32_t* const named =
      externals_.find(tracks_.file(call.span.track), call.span.external, call.span.start_ns);
  return named != nullptr && contains(nodes_[*named], call.span) ? *named : call.around;
}

void Operators::add_calls(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    const std::uint32_t caller = caller_of(call);
    correlations_.add(tracks_.file(call.span.track), call.span.correlation, call.span.start_ns,
                      caller);
    // Old exporters number the threads of calls differently, so that one thread appears as two
    // rows.
    if (caller == kNoOperator || nodes_[caller].track == call.span.track) continue;
    std::int64_t& self_ns = nodes_[caller].host_self_ns;
    self_ns = std::max<std::int64_t>(self_ns - (call.span.end_ns - call.span.start_ns), 0);
  }
  correlations_.sort();
}

void Operators::add_device_work(const RankEvents& rank) {
  rank.for_each_device([&](const DeviceSpan& span) {
    const std::uint32_t node = launcher_of(span);
    if (node != kNoOperator) add_to(nodes_[node].device_self_ns, span.end_ns - span.start_ns);
  });
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    OperatorNode& node = nodes_[i];
    add_to(node.device_total_ns, node.device_self_ns);
    if (node.parent != kNoOperator)
      add_to(nodes_[node.parent].device_total_ns, node.device_total_ns);
  }
}

void Operators::mark_repeats(const Labels& labels) {
  for (OperatorNode& node : nodes_) {
    if (node.parent == kNoOperator) continue;
    const OperatorNode& parent = nodes_[node.parent];
    node.is_repeat = parent.children == 1 && labels.name(parent.label) == labels.name(node.label);
  }
  // The times of a repeat are added to the operator whose name it repeats, inner repeats first.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    OperatorNode& node = nodes_[i];
    if (!node.is_repeat) continue;
    add_to(nodes_[node.parent].host_self_ns, node.host_self_ns);
    add_to(nodes_[node.parent].device_self_ns, node.device_self_ns);
  }
}

std::uint32_t Operators::launcher_of(const DeviceSpan& span) const {
  const std::size_t file = tracks_.file(span.track);
  const std::uint32_t* found = correlations_.find(file, span.correlation, span.start_ns);
  if (found == nullptr) found = externals_.find(file, span.external, span.start_ns);
  return found == nullptr ? kNoOperator : *found;
}

}  // namespace traceloom
