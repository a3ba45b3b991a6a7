// summarize: latency statistics of the spans of many traces, one row a name (or category, rank,
// ...).
//
//   SummaryRequest request;
//   request.inputs = expand_inputs({"traces/"});
//   Summary summary = summarize(request);
//   std::string text = render_summary(summary, TableFormat::text, {});      // summary_report.h
//
// A span is an X event or a matched pair of B and E events (scan/begin_end.h). Everything is exact:
// times are whole nanoseconds, percentiles are durations that were measured, and the result does
// not depend on the number of threads or on whether the ranks were merged before.
// Memory: four bytes a span, the names, and the chunks being read; never the text.
#pragma once

#include "base/file_facts.h"
#include "base/units.h"
#include "input/input_list.h"
#include "select/label_filter.h"
#include "select/number_range.h"
#include "select/time_selection.h"
#include "stats/duration_stats.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// What tells rows apart; at least one. Where names do, a range of the host and its copy on a device
// are two rows (event_side.h): their categories are different ones. Spans without one that are of a
// device by their row have "(device row)" for it.
struct SummaryGrouping {
  bool name = false;
  bool category = false;
  bool rank = false;
};

// What rows are sorted by: numbers descending, texts and ranks ascending; then by name, category,
// rank.
enum class SummaryOrder : std::uint8_t {
  total,
  count,
  mean,
  min,
  p50,
  p90,
  p99,
  max,
  stddev,
  name,
  category,
  rank
};
inline constexpr std::string_view kSummaryOrderNames[] = {"total",  "count", "mean",     "min",
                                                          "p50",    "p90",   "p99",      "max",
                                                          "stddev", "name",  "category", "rank"};

// How many rows a summary may have unless more are asked for. One row takes some 2 KB until it is
// shown; names that hold the number of a request could be without end.
inline constexpr std::size_t kMostRows = 100'000;

struct SummaryRequest {
  std::vector<Input> inputs;
  SummaryGrouping by = {.name = true};
  SummaryOrder order = SummaryOrder::total;
  std::size_t top = 0;               // at most so many rows; 0: all
  std::size_t max_rows = kMostRows;  // with more it throws, those behind `top` included
  LabelFilter filter;
  std::vector<NumberRange> ranks;  // empty: all
  std::optional<TimeSelection>
      time;                 // spans that start in it; takes a second reading of the inputs
  bool keep_going = false;  // an input that is no trace is left out, instead of throwing its Error
  unsigned threads = 0;     // 0: as many as there are cores
  std::function<void(std::uint64_t)> progress;  // as in ScanOptions, over all readings
};

struct SummaryRow {
  std::optional<std::int64_t> rank;  // when grouped by rank
  std::optional<std::string> name;   // when grouped by name; "(none)" for spans without one
  std::vector<std::string>
      categories;  // the different ones of the row's spans, sorted; "" for none
  DurationStats stats;
  double share = 0;  // of the total of all rows, those behind `top` included
};

struct Summary {
  SummaryGrouping by;
  SummaryOrder order = SummaryOrder::total;
  TimeUnit unit = TimeUnit::automatic;  // for people
  std::vector<FileFacts> files;         // is_told_before(), in whatever order the inputs were given
  std::vector<SummaryRow> rows;
};

// Throws Error for an input that is no trace (see keep_going), a negative rank, and a row whose
// total does not fit 64-bit nanoseconds; UsageError for more than max_rows rows.
Summary summarize(const SummaryRequest& request);

}  // namespace traceloom
