// RowCollector: groups of spans from many tables to the rows of a summary.
//
//   RowCollector rows({.name = true});
//   table.for_each_group([&](const SpanGroup& group) { rows.add(group, 0); });
//   std::vector<SummaryRow> result = rows.compute(2);
#pragma once

#include "base/string_table.h"
#include "event/event_side.h"
#include "stats/span_table.h"
#include "stats/summarize.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Not thread-safe. What the groups refer to must outlive it.
class RowCollector {
 public:
  // Throws for more rows than `most`.
  explicit RowCollector(SummaryGrouping by,
                        std::size_t most = std::numeric_limits<std::size_t>::max())
      : by_(by), most_(most) {}

  // `rank` is that of the group's spans; it does not matter unless rows are grouped by it, and
  // `side` unless they are by name.
  void add(const SpanGroup& group, std::int64_t rank, EventSide side);

  // The rows with their statistics, in no order that means anything, computed by up to `threads`
  // threads (at least one). Plain threads and not TBB, which the thread sanitizer cannot see into.
  // Throws Error when a total does not fit.
  std::vector<SummaryRow> compute(std::size_t threads) const;

 private:
  struct Source {
    std::int64_t rank;
    std::string_view name;
    EventSide side;
    std::vector<std::string_view> categories;  // may repeat
    std::vector<const DurationColumn*> columns;
  };

  SummaryRow make_row(const Source& source, DurationValues& values) const;

  SummaryGrouping by_;
  std::size_t most_;
  std::string scratch_;
  StringTable keys_;
  std::vector<Source> sources_;
};

// UsageError, with what to do.
[[noreturn]] void throw_too_many_rows(std::size_t most);

// In the order of the request, see SummaryOrder.
void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order);

// What stands for the category of spans that only their row tells to be of a device.
inline constexpr std::string_view kDeviceRowCategory = "(device row)";

// "cpu_op; kernel"; among several, no category at all is "(none)".
std::string join_categories(const SummaryRow& row);

}  // namespace traceloom
