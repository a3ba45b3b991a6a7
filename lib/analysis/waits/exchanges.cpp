#include "analysis/waits/exchanges.h"

#include "analysis/work/work_names.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

void add_part(ExchangeTimes& times, const CollectivePart& part, std::int64_t moved_ns) {
  const std::int64_t begin_ns = std::max(part.start_ns, part.end_ns - moved_ns);
  times.waits.push_back({part.start_ns, begin_ns});
  times.moves.push_back({begin_ns, part.end_ns});
}

// True if the event says how many ranks its group has, and all of them are here.
bool has_all_ranks(const Collective& what) {
  return what.group_size > 0 && what.parts.size() >= static_cast<std::size_t>(what.group_size);
}

void add_single(const Collective& what, std::vector<RankExchanges>& ranks) {
  for (const CollectivePart& part : what.parts) {
    RankExchanges& rank = ranks[part.rank];
    if (!is_point_to_point(what.name)) {
      if (!has_all_ranks(what)) rank.alone.push_back({part.start_ns, part.end_ns});
    } else if (!what.transfer_ns) {
      rank.messages.unknown.push_back({part.start_ns, part.end_ns});
    } else {
      add_part(rank.messages, part, *what.transfer_ns);
      rank.sent += is_receive(what.name) ? 0 : 1;
      rank.received += is_send(what.name) ? 0 : 1;
    }
  }
}

// Of one that several ranks have. Data that moves when these have come may still be waiting for
// those that are not here.
void add_matched(const Collective& what, bool lacks_ranks, std::vector<RankExchanges>& ranks) {
  for (const CollectivePart& part : what.parts) {
    ExchangeTimes& times = ranks[part.rank].collectives;
    add_part(times, part, what.latency_ns());
    if (!lacks_ranks || has_all_ranks(what)) continue;
    times.unknown.push_back(times.moves.back());
    times.moves.pop_back();
  }
}

// Collectives of a coarse time line are not matched.
void add_operations(const Run& run, const RankEvents& events, RankExchanges& rank) {
  events.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::operation) return;
    const std::optional<OperationKind> kind = operation_kind(run.labels.name(span.label));
    if (kind && is_collective(*kind)) rank.collectives.unknown.push_back(span.interval());
  });
}

}  // namespace

std::vector<RankExchanges> find_exchanges(const Run& run, bool lacks_ranks) {
  std::vector<RankExchanges> ranks(run.ranks.size());
  const MatchedCollectives& found = match_collectives(run);
  for (const Collective& what : found.single) add_single(what, ranks);
  for (const Collective& what : found.matched) add_matched(what, lacks_ranks, ranks);
  for (std::size_t i = 0; run.is_coarse() && i < ranks.size(); ++i)
    add_operations(run, run.ranks[i], ranks[i]);
  for (RankExchanges& rank : ranks) {
    rank.alone = unite(std::move(rank.alone));
    for (ExchangeTimes* const times : {&rank.collectives, &rank.messages})
      for (Intervals* const set : {&times->waits, &times->moves, &times->unknown})
        *set = unite(std::move(*set));
  }
  return ranks;
}

}  // namespace traceloom
