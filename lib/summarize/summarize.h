// summarize: latency statistics of the spans of many traces, one row a name (or category, rank,
// ...).
//
//   SummaryRequest request;
//   request.inputs = expand_inputs({"traces/"});
//   Summary summary = summarize(request);
//   std::string text = render_summary(summary, TableFormat::text, {});      // summary_report.h
//
// A span is an X event or a matched pair of B and E events (scan/begin_end.h). All results are
// exact: times are whole nanoseconds, percentiles are measured durations, and the result does not
// depend on the number of threads or on whether the ranks were merged before. The files are read
// once. Memory holds 4 to 8 bytes a span (base/packed_rows.h), the names, and the chunks being
// read, but never the text.
#pragma once

#include "base/problems.h"
#include "base/units.h"
#include "input/input_list.h"
#include "select/selection.h"
#include "summarize/duration_stats.h"
#include "team/team.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// The properties that separate rows; at least one is set. If rows are grouped by name, a range of
// the host and its copy on a device are two rows (event_side.h), because their categories differ.
// Spans without a category whose row belongs to a device have "(device row)" for it.
struct SummaryGrouping {
  bool name = false;
  bool category = false;
  bool rank = false;
};

// The column by which rows are sorted: numbers descending, texts and ranks ascending. Equal rows
// are sorted by name, category, rank.
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

// The default for the number of rows that a summary may have. One row takes some 2 KB until it is
// shown, and names that contain the number of a request could be unlimited.
inline constexpr std::size_t kMostRows = 100'000;

struct SummaryRequest {
  std::vector<Input> inputs;
  SummaryGrouping by = {.name = true};
  SummaryOrder order = SummaryOrder::total;
  std::size_t top = 0;               // number of rows to return; 0: all
  std::size_t max_rows = kMostRows;  // limit of all rows, also those after `top`; more make it
                                     // throw
  LabelFilter filter;
  std::vector<NumberRange> ranks;     // ranks to include; empty: all
  std::optional<TimeSelection> time;  // only spans that start in it
  bool keep_going = false;  // leave out an input that is no trace, instead of throwing its Error
  unsigned threads = 0;     // 0: one a core
  std::function<void(std::uint64_t)> progress;  // called as in ScanOptions
  Team* team = nullptr;  // the processes that read the files; nullptr: this one alone
};

struct SummaryRow {
  std::optional<std::int64_t> rank;  // set if rows are grouped by rank
  std::optional<std::string> name;   // set if rows are grouped by name; "(none)" for spans without
                                     // one
  std::vector<std::string>
      categories;  // the different categories of the row's spans, sorted; "" for none
  DurationStats stats;
  double share = 0;  // share of the total of all rows, also those after `top`

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(rank, name, categories, stats, share); }
};

// Returns the column of numbers that has this order, in ns or as a count; 0 for a text or a rank.
std::int64_t value_of(const DurationStats& stats, SummaryOrder order);

// Returns "cpu_op; kernel"; if there are several, an empty category is "(none)".
std::string join_categories(const SummaryRow& row);

struct Summary {
  SummaryGrouping by;
  SummaryOrder order = SummaryOrder::total;
  TimeUnit unit = TimeUnit::automatic;  // unit of durations for people
  std::vector<FileFacts> files;         // sorted by is_reported_before(), whatever the order of the
                                        // inputs
  std::vector<SummaryRow> rows;
  std::uint64_t async_spans = 0;  // spans of the files that no row counts
};

// Throws Error for an input that is no trace (see keep_going), for a negative rank, and for a row
// whose total does not fit 64-bit nanoseconds. Throws UsageError for more than max_rows rows.
//
// In a team each process reads some of the files and computes some of the rows; process 0 gets all
// of them: the same as by one process. On the others the summary is empty.
Summary summarize(const SummaryRequest& request);

}  // namespace traceloom
