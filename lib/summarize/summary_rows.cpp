#include "summarize/summary_rows.h"

#include "base/problems.h"
#include "base/units.h"
#include "team/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <tuple>
#include <utility>

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

namespace traceloom {
namespace {

__extension__ typedef unsigned __int128 Uint128;

}  // namespace

std::int64_t value_of(const DurationStats& stats, SummaryOrder order) {
  switch (order) {
    case SummaryOrder::total:
      return stats.total_ns;
    case SummaryOrder::count:
      return static_cast<std::int64_t>(stats.count);
    case SummaryOrder::mean:
      return stats.mean_ns;
    case SummaryOrder::min:
      return stats.min_ns;
    case SummaryOrder::p50:
      return stats.p50_ns;
    case SummaryOrder::p90:
      return stats.p90_ns;
    case SummaryOrder::p99:
      return stats.p99_ns;
    case SummaryOrder::max:
      return stats.max_ns;
    case SummaryOrder::stddev:
      return stats.stddev_ns;
    default:
      return 0;
  }
}

RowSpans& RowCollector::of(std::int64_t rank, std::string_view name, std::string_view category,
                           EventSide side) {
  if (!by_.name) side = EventSide::host;
  scratch_ = fmt::format("{} {} {} ", by_.rank ? rank : 0, static_cast<int>(side),
                         by_.name ? name.size() : 0);
  if (by_.name) scratch_ += name;
  if (by_.category) scratch_ += category;
  const std::uint32_t number = keys_.intern(scratch_);
  if (number == rows_.size()) rows_.push_back({rank, std::string(name), side, {}, {}});
  if (rows_.size() > most_) throw_too_many_rows(most_);
  rows_[number].categories.emplace(category);
  return rows_[number];
}

SummaryRow RowCollector::make_row(RowSpans& spans) const {
  SummaryRow row;
  if (by_.rank) row.rank = spans.rank;
  if (by_.name) row.name = spans.name;
  if (spans.side == EventSide::device && spans.categories.erase("") > 0)
    spans.categories.emplace(kDeviceRowCategory);
  row.categories.assign(spans.categories.begin(), spans.categories.end());
  const std::optional<DurationStats> stats = compute_stats(spans.durations);
  if (!stats)
    throw Error(
        fmt::format("'{}'", row.name.value_or(join_categories(row))),
        "the total of its durations does not fit 64-bit nanoseconds; leave it out by --filter "
        "or repair the trace");
  row.stats = *stats;
  return row;
}

std::vector<SummaryRow> RowCollector::compute(std::size_t threads) {
  constexpr std::size_t kRowsWorthAThread = 64;
  std::vector<SummaryRow> rows(rows_.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) rows[i] = make_row(rows_[i]);
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < std::min(threads, rows.size() / kRowsWorthAThread); ++i)
    helpers.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& helper : helpers) helper.get();
  return rows;
}

void set_shares(std::vector<SummaryRow>& rows) {
  Uint128 sum = 0;
  for (const SummaryRow& row : rows) sum += static_cast<std::uint64_t>(row.stats.total_ns);
  if (sum == 0) return;
  for (SummaryRow& row : rows)
    row.share = static_cast<double>(static_cast<long double>(row.stats.total_ns) /
                                    static_cast<long double>(sum));
}

void throw_too_many_rows(std::size_t most) {
  throw UsageError(
      fmt::format("the summary has more than {} rows; do names hold the numbers of requests? "
                  "--filter or --category choose some, --max-rows takes more, at some 2 KB each",
                  format_count(most)));
}

void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order) {
  const auto by_text = [](const SummaryRow& a, const SummaryRow& b) {
    return std::tie(a.name, a.categories, a.rank) < std::tie(b.name, b.categories, b.rank);
  };
  std::sort(rows.begin(), rows.end(), [&](const SummaryRow& a, const SummaryRow& b) {
    if (order == SummaryOrder::category && a.categories != b.categories)
      return a.categories < b.categories;
    if (order == SummaryOrder::rank && a.rank != b.rank) return a.rank < b.rank;
    const std::int64_t first = value_of(a.stats, order);
    const std::int64_t second = value_of(b.stats, order);
    return first != second ? first > second : by_text(a, b);
  });
}

std::string join_categories(const SummaryRow& row) {
  if (row.categories.size() == 1) return row.categories.front();
  std::string joined;
  for (const std::string& category : row.categories) {
    if (!joined.empty()) joined += "; ";
    joined += category.empty() ? kNoName : category;
  }
  return joined;
}

namespace {

// The keys are exchanged in so many slices.
constexpr std::uint64_t kSlices = 16;

// Returns the rows of one slice whose keys belong to this process.
std::vector<SummaryRow> rows_of_slice(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::uint64_t slice, std::size_t threads) {
  std::vector<WireWriter> writers(team.size());
  own.for_each([&](std::string_view key, const RowSpans& row) {
    const std::uint64_t hash = XXH3_64bits(key.data(), key.size());
    if (hash % kSlices == slice) writers[hash / kSlices % team.size()](row);
  });
  std::vector<std::string> messages;
  messages.reserve(writers.size());
  for (WireWriter& writer : writers) messages.push_back(writer.take());
  messages = team.exchange(std::move(messages));
  std::vector<SummaryRow> rows;
  team.agree([&] {
    RowCollector collector(by);
    for (std::string& message : messages) {
      for (WireReader reader(message); !reader.at_end();) {
        RowSpans part;
        reader(part);
        // All parts of a row have its category if rows are grouped by it.
        RowSpans& row = collector.of(part.rank, part.name, *part.categories.begin(), part.side);
        row.categories.merge(part.categories);
        row.durations.append(part.durations);
      }
      message = {};
    }
    rows = collector.compute(threads);
  });
  return rows;
}

}  // namespace

std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, RowCollector& own,
                                      std::size_t most, std::size_t threads) {
  if (team.is_alone()) return own.compute(threads);
  std::vector<SummaryRow> rows;
  for (std::uint64_t slice = 0; slice < kSlices; ++slice)
    for (SummaryRow& row : rows_of_slice(team, by, own, slice, threads))
      rows.push_back(std::move(row));
  std::vector<SummaryRow> all;
  team.gather(to_wire(rows), [&](std::size_t, const std::string& bytes) {
    for (SummaryRow& row : from_wire<std::vector<SummaryRow>>(bytes)) {
      if (all.size() == most) throw_too_many_rows(most);
      all.push_back(std::move(row));
    }
  });
  return all;
}

}  // namespace traceloom
