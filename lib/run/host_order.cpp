#include "run/host_order.h"

#include <algorithm>

namespace traceloom {

HostOrder::HostOrder(const RankEvents& rank, const HostKinds& kinds) : rank_(rank) {
  std::size_t count = 0;
  for (const EventColumns& part : rank.parts)
    count += (kinds.frames ? part.frames.size() : 0) + (kinds.hosts ? part.hosts.size() : 0) +
             (kinds.operators ? part.operators.size() : 0) + (kinds.calls ? part.calls.size() : 0);
  refs_.reserve(count);
  if (kinds.hosts) unpack_hosts();
  for (std::size_t i = 0; i < rank.parts.size(); ++i) {
    const EventColumns& part = rank.parts[i];
    const auto add = [&](bool wanted, HostKind kind, std::size_t rows) {
      for (std::size_t row = 0; wanted && row < rows; ++row) refs_.emplace_back(i, kind, row);
    };
    add(kinds.frames, HostKind::frame, part.frames.size());
    add(kinds.operators, HostKind::operation, part.operators.size());
    add(kinds.calls, HostKind::call, part.calls.size());
  }
  std::sort(refs_.begin(), refs_.end(), [this](const HostRef& a, const HostRef& b) {
    const HostSpan& first = span(a);
    const HostSpan& second = span(b);
    if (first.track != second.track) return first.track < second.track;
    if (first.start_ns != second.start_ns) return first.start_ns < second.start_ns;
    if (first.end_ns != second.end_ns) return first.end_ns > second.end_ns;
    return a.kind() != b.kind() ? a.kind() < b.kind() : a.stands_before(b);
  });
}

// Unpacks the hosts so that they can be looked up, with as many parts as the rank has.
void HostOrder::unpack_hosts() {
  for (std::size_t i = 0; i < rank_.parts.size(); ++i) {
    const PackedRows<HostSpan>& packed = rank_.parts[i].hosts;
    std::vector<HostSpan>& rows = hosts_.emplace_back();
    rows.reserve(packed.size());
    for (const HostSpan& span : packed) {
      refs_.emplace_back(i, HostKind::host, rows.size());
      rows.push_back(span);
    }
  }
}

const HostSpan& HostOrder::span(const HostRef& ref) const {
  const EventColumns& part = rank_.parts[ref.part()];
  switch (ref.kind()) {
    case HostKind::frame:
      return part.frames[ref.row()];
    case HostKind::host:
      return hosts_[ref.part()][ref.row()];
    case HostKind::operation:
      return part.operators[ref.row()];
    case HostKind::call:
      break;
  }
  return part.calls[ref.row()];
}

}  // namespace traceloom
