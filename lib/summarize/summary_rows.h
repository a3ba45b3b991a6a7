// The rows of a summary, made of the spans of one process or of a team.
#pragma once

#include "base/string_table.h"
#include "event/event_side.h"
#include "summarize/duration_stats.h"
#include "summarize/summarize.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// The spans of a row that one process of a team has read.
struct RowSpans {
  std::int64_t rank = 0;
  std::string name;
  EventSide side = EventSide::host;
  std::set<std::string> categories;
  DurationValues durations;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(rank, name, side, categories, durations.small, durations.large); }
};

// RowCollector: spans by their rows.
//
//   RowCollector rows({.name = true}, most);
//   rows.of(0, "aten::mm", "cpu_op", EventSide::host).durations.add(1500);
//   std::vector<SummaryRow> result = rows.compute(2);
//
// Not thread-safe.
class RowCollector {
 public:
  // of() throws UsageError if there are more rows than `most`.
  explicit RowCollector(SummaryGrouping by,
                        std::size_t most = std::numeric_limits<std::size_t>::max())
      : by_(by), most_(most) {}

  // Returns the row of such spans, which does not move. What rows are not grouped by has no effect;
  // `side` belongs to the name.
  RowSpans& of(std::int64_t rank, std::string_view name, std::string_view category, EventSide side);

  // Calls use(key, row) for each row; equal keys are of one row, whoever collected it.
  template <typename Use>
  void for_each(Use use) const {
    for (std::uint32_t i = 0; i < rows_.size(); ++i) use(keys_[i], rows_[i]);
  }

  // Returns the rows with their statistics but without their shares, in no particular order. Up to
  // `threads` threads (at least one) compute them; these are plain threads because the thread
  // sanitizer cannot see into TBB. Throws Error if a total does not fit.
  std::vector<SummaryRow> compute(std::size_t threads);

 private:
  SummaryRow make_row(RowSpans& spans) const;

  SummaryGrouping by_;
  std::size_t most_;
  std::string scratch_;
  StringTable keys_;
  std::deque<RowSpans> rows_;
};

// Throws UsageError with advice.
[[noreturn]] void throw_too_many_rows(std::size_t most);

// Sets the share of each row in the total of all.
void set_shares(std::vector<SummaryRow>& rows);

// Returns the column of numbers that has this order, in ns or as a count; 0 for a text or a rank.
std::int64_t value_of(const DurationStats& stats, SummaryOrder order);

// Sorts in the order of the request, see SummaryOrder.
void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order);

// What stands for the category of spans that only their row tells to be of a device.
inline constexpr std::string_view kDeviceRowCategory = "(device row)";

// Returns "cpu_op; kernel"; if there are several, an empty category is "(none)".
std::string join_categories(const SummaryRow& row);

// Returns all rows on process 0, and none on the others, in no particular order and without their
// shares. Each row is computed by the process to which the hash of its key belongs: the others send
// it the durations, so that percentiles are exact. This is done for a slice of the keys at a time,
// so the durations that are under way take a small part of the memory of those that were read.
// Throws on all processes what RowCollector throws on one of them, and UsageError for more rows
// than `most`.
std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, RowCollector& own,
                                      std::size_t most, std::size_t threads);

}  // namespace traceloom
