#include "comparison/captures/transfer_times.h"

#include "analysis/collectives/collectives.h"

#include <algorithm>
#include <limits>

namespace traceloom {

TransferTimes::TransferTimes(const Run& run) : ranks_(run.ranks.size()) {
  for (const Collective& one : match_collectives(run).matched) {
    if (one.is_launch_only || !one.all_wait_for_all()) continue;
    const std::int64_t transfer_ns = one.latency_ns();
    for (const CollectivePart& part : one.parts)
      ranks_[part.rank].emplace_back(part.start_ns, part.end_ns, transfer_ns);
  }
  for (auto& rank : ranks_) std::sort(rank.begin(), rank.end());
}

std::optional<std::int64_t> TransferTimes::of(std::size_t rank, const Interval& time) const {
  const auto place = std::lower_bound(
      ranks_[rank].begin(), ranks_[rank].end(),
      std::tuple(time.from_ns, time.to_ns, std::numeric_limits<std::int64_t>::min()));
  if (place == ranks_[rank].end() || std::get<0>(*place) != time.from_ns ||
      std::get<1>(*place) != time.to_ns)
    return std::nullopt;
  return std::get<2>(*place);
}

}  // namespace traceloom
