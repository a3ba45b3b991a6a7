#include "trace_stats/row_limit.h"

#include "base/error.h"
#include "base/units.h"

#include <fmt/format.h>

namespace traceloom {

void RowLimit::add(const Key& key) {
  static_cast<void>(rows_[key]);
  if (rows_.size() > most_)
    throw UsageError(
        fmt::format("{} would have more than {} rows (do names contain request numbers?); "
                    "--rank, --steps or --time select fewer, --max-rows allows more, at some 2 KB "
                    "each",
                    command_, format_count(most_)));
}

void count_streams(const Run& run, RowLimit& limit) {
  for (const RankEvents& rank : run.ranks)
    rank.for_each_device([&](const DeviceSpan& span) {
      limit.add({rank.rank, span.device, span.stream, 0});
    });
}

void count_counters(const Run& run, bool by_rank, RowLimit& limit) {
  for (const RankEvents& rank : run.ranks)
    rank.for_each_counter([&](const CounterSample& sample) {
      limit.add({by_rank ? rank.rank : 0, sample.label, sample.key, 0});
    });
}

}  // namespace traceloom
