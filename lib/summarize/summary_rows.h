// The rows of a summary, made of the groups of spans of one process or of a team.
#pragma once

#include "base/string_table.h"
#include "event/event_side.h"
#include "summarize/span_table.h"
#include "summarize/summarize.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// RowCollector: turns groups of spans from many tables into the rows of a summary.
//
//   RowCollector rows({.name = true});
//   table.for_each_group([&](const SpanGroup& group) { rows.add(group, 0); });
//   std::vector<SummaryRow> result = rows.compute(2);

// The spans of a row that one process of a team has read.
struct RowPart {
  std::int64_t rank = 0;
  std::string name;
  EventSide side = EventSide::host;
  std::vector<std::string> categories;
  DurationValues durations;

  auto wired() { return std::tie(rank, name, side, categories, durations.small, durations.large); }
};

// The objects to which the groups refer, and the parts, must outlive the collector. Not
// thread-safe.
class RowCollector {
 public:
  // add() throws if there are more rows than `most`.
  explicit RowCollector(SummaryGrouping by,
                        std::size_t most = std::numeric_limits<std::size_t>::max())
      : by_(by), most_(most) {}

  // `rank` is the rank of the group's spans; it has no effect unless rows are grouped by rank, and
  // `side` none unless they are grouped by name.
  void add(const SpanGroup& group, std::int64_t rank, EventSide side);
  void add(const RowPart& part);

  // Calls use(key, part) for each row; equal keys are of one row, whoever collected it.
  template <typename Use>
  void for_each_part(Use use) const {
    for (std::uint32_t i = 0; i < sources_.size(); ++i)
      use(keys_[i], [&] { return part_of(sources_[i]); });
  }

  // Returns the rows with their statistics but without their shares, in no particular order. Up to
  // `threads` threads (at least one) compute them; these are plain threads because the thread
  // sanitizer cannot see into TBB. Throws Error if a total does not fit.
  std::vector<SummaryRow> compute(std::size_t threads) const;

 private:
  struct Source {
    std::int64_t rank;
    std::string_view name;
    EventSide side;
    std::vector<std::string_view> categories;  // may repeat
    std::vector<const DurationColumn*> columns;
    std::vector<const DurationValues*> values;
  };

  Source& source_of(std::int64_t rank, std::string_view name, EventSide side,
                    std::string_view category);
  static RowPart part_of(const Source& source);
  SummaryRow make_row(const Source& source, DurationValues& values) const;

  SummaryGrouping by_;
  std::size_t most_;
  std::string scratch_;
  StringTable keys_;
  std::vector<Source> sources_;
};

// Throws UsageError with advice.
[[noreturn]] void throw_too_many_rows(std::size_t most);

// Sets the share of each row in the total of all.
void set_shares(std::vector<SummaryRow>& rows);

// Sorts in the order of the request, see SummaryOrder.
void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order);

// What stands for the category of spans that only their row tells to be of a device.
inline constexpr std::string_view kDeviceRowCategory = "(device row)";

// Returns "cpu_op; kernel"; if there are several, an empty category is "(none)".
std::string join_categories(const SummaryRow& row);

// exchange_rows: computes the rows of a summary whose spans the processes of a team have read.
//
//   RowCollector rows(by);                          // with the groups of this process
//   std::vector<SummaryRow> all = exchange_rows(team, by, rows, most, threads);   // on process 0

// Returns all rows on process 0, and none on the others, in no particular order and without their
// shares. Each row is computed by the process to which the hash of its key belongs: the others send
// it the durations, so that percentiles are exact. This is done for a slice of the keys at a time,
// so the durations that are under way take a small part of the memory of those that were read.
// Throws on all processes what RowCollector throws on one of them, and UsageError for more rows
// than `most`.
std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::size_t most, std::size_t threads);

}  // namespace traceloom
