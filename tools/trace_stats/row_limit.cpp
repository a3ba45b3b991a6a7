#include "trace_stats/row_limit.h"

#include "base/problems.h"
#include "base/units.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <vector>

namespace traceloom {

void RowLimit::add(const Key& key) {
  rows_.insert(key);
  if (rows_.size() > most_)
    throw UsageError(
        fmt::format("{} would have more than {} rows (do names contain request numbers?); "
                    "--rank, --steps or --time select fewer, --max-rows allows more, at some 2 KB "
                    "each",
                    command_, format_count(most_)));
}

void RowLimit::add_ranks(const Run& run,
                         const std::function<void(const RankEvents&, const AddKey&)>& find) {
  using OwnKeys = std::vector<Key>;
  const auto keys_of = [&](std::size_t rank) {
    Keys seen;
    // One key too many is enough to refuse.
    find(run.ranks[rank], [&](const Key& key) {
      if (seen.size() <= most_) seen.insert(key);
    });
    return OwnKeys(seen.begin(), seen.end());
  };
  for_each_rank<OwnKeys>(run, all_ranks(run), keys_of, [&](std::size_t, const OwnKeys& keys) {
    for (const Key& key : keys) add(key);
  });
}

void count_streams(const Run& run, RowLimit& limit) {
  limit.add_ranks(run, [](const RankEvents& rank, const RowLimit::AddKey& add) {
    rank.for_each_device([&](const DeviceSpan& span) {
      add({rank.rank, span.device, span.stream, 0});
    });
  });
}

void count_counters(const Run& run, bool by_rank, RowLimit& limit) {
  limit.add_ranks(run, [&](const RankEvents& rank, const RowLimit::AddKey& add) {
    rank.for_each_counter([&](const CounterSample& sample) {
      add({by_rank ? rank.rank : 0, sample.label, sample.key, 0});
    });
  });
}

}  // namespace traceloom
