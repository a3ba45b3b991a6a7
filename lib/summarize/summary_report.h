// The answer of a summary: the report in each format, and whether the spans of a name took no
// longer than allowed.
#pragma once

#include "gate/gate_term.h"
#include "select/selection.h"
#include "summarize/summarize.h"
#include "table/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

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
