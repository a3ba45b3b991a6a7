// summarize: latency statistics of the spans of many traces, one row a name (or category, rank,
// ...).
//
//   SummaryRequest request;
//   request.inputs = expand_inputs({"traces/"});
//   Summary summary = summarize(request);
//   std::string text = render_summary(summary, TableFormat::text, {});
//
// A span is an X event or a matched pair of B and E events (scan/begin_end.h). All results are
// exact: times are whole nanoseconds, percentiles are measured durations, and the result does not
// depend on the number of threads or on whether the ranks were merged before. The files are read
// once. Memory holds 4 to 8 bytes a span (base/packed_rows.h), the names, and the chunks being
// read, but never the text.
#pragma once

#include "base/duration_stats.h"
#include "base/problems.h"
#include "base/units.h"
#include "gate/gate_term.h"
#include "input/input_list.h"
#include "select/selection.h"
#include "table/table.h"
#include "team/team.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The properties that separate rows; at least one is set. If rows are grouped by name, a range of
// the host and its copy on a device are two rows (event_side()), because their categories differ.
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

// render_summary: writes a summary as text, CSV, JSON or Markdown.
//
//   std::fputs(render_summary(summary, TableFormat::text, {.width = 120}).c_str(), stdout);
//
// This is the JSON document; later versions only add keys:
//   {"schema_version":1,"command":"summarize",
//    "files":[{"path","rank","ranks","events","text_bytes","error"}],
//    "rows":[{"rank","name","category","count","total_ns","mean_ns","min_ns","p50_ns","p90_ns",
//             "p99_ns","max_ns","stddev_ns","share"}],
//    "problems":[{"file","kind","count","first_offset"}]}
// Rows have "rank" only if they are grouped by rank. "name" is null if rows are not grouped by
// name. CSV has the columns of "rows".

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style);

// LatencyGate: decides whether the spans of a name take no longer than allowed.
//
//   const LatencyGate gate = read_latency_gate("--fail-on", "decode.p99>5ms");
//   for (const std::string& why : judge(gate, summary).exceeds) fmt::print("{}\n", why);
//
// "decode.p99>5ms" is of the spans with exactly that name, "[REGEX].p99>5ms" of all names that
// contain a match. The field is a column of the summary: count, total, mean, min, p50, p90, p99,
// max or stddev.

struct LatencyGate {
  std::string text;  // as written
  std::string name;
  std::optional<NamePattern> pattern = {};  // takes the place of the name
  SummaryOrder field = SummaryOrder::p99;   // one with a number
  std::int64_t most = 0;                    // ns, or spans for a count

  bool is_of(const SummaryRow& row) const;
};

// Throws UsageError, which begins with `option`, for a condition without a field or a limit that
// fits it.
LatencyGate read_latency_gate(const std::string& option, const std::string& text);

struct LatencyAnswer {
  std::size_t rows = 0;              // rows of the gate; without any it is not known
  std::vector<std::string> exceeds;  // "decode has p99 7.100 ms, more than 5.000 ms", one a row
};

// The summary is grouped by name.
LatencyAnswer judge(const LatencyGate& gate, const Summary& summary);

}  // namespace traceloom
