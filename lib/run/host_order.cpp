#include "run/host_order.h"

#include <algorithm>

namespace traceloom {

HostOrder::HostOrder(const RankEvents& rank, const HostKinds& kinds) : rank_(rank) {
  if (kinds.hosts) unpack_hosts();
  for (std::size_t i = 0; i < rank.parts.size(); ++i) {
    const EventColumns& part = rank.parts[i];
    if (kinds.frames) add(i, HostKind::frame, part.frames);
    if (kinds.hosts) add(i, HostKind::host, hosts_[i]);
    if (kinds.operators) add(i, HostKind::operation, part.operators);
    if (kinds.calls) add(i, HostKind::call, part.calls);
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
    return a.kind() != b.kind() ? a.kind() < b.kind() : a.stands_before(b);
  };
  const auto begin = static_cast<std::ptrdiff_t>(refs_.size());
  for (Refs& run : runs) {
    if (!std::is_sorted(run.begin(), run.end(), comes_before))
      std::sort(run.begin(), run.end(), comes_before);
    const auto middle = static_cast<std::ptrdiff_t>(refs_.size());
    refs_.insert(refs_.end(), run.begin(), run.end());
    std::inplace_merge(refs_.begin() + begin, refs_.begin() + middle, refs_.end(), comes_before);
    run = {};
  }
}

// Unpacks the hosts so that they can be looked up, with as many parts as the rank has.
void HostOrder::unpack_hosts() {
  for (std::size_t i = 0; i < rank_.parts.size(); ++i) {
    const PackedRows<HostSpan>& packed = rank_.parts[i].hosts;
    std::vector<HostSpan>& rows = hosts_.emplace_back();
    rows.reserve(packed.size());
    for (const HostSpan& span : packed) rows.push_back(span);
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
