// The slow, obvious merge and statistics: everything in memory, one pass a question, no cleverness.
// The fast code in lib/ has to agree with it on every trace; it shares none of its code.
//
//   std::vector<SummaryRow> rows = summarize({load("rank0.json"), load("rank1.json.gz")});
//   std::vector<MergedEvent> merged = merge({{text0, 0, 0}, {text1, 1, -2'676'000}});
//
// Rules, the same for both:
//   * An element that is no object, or has no phase, or (but for M) no usable ts is left out. A ts
//     is usable when it is a number, or a number in quotes.
//   * A duration is round(ts + dur) - round(ts), in nanoseconds, halves up; an X whose dur is
//     missing, no number or negative lasts 0. One that lasts more than 2^62 ns or ends beyond
//     2^63 ns never ended: it is no span, and a merge draws it to the end of its file, or of its
//     rank there.
//   * Of one file and one (pid, tid), the B and E events are stably sorted by their time in whole
//     nanoseconds: that is what a merge writes, so a merged file pairs as its inputs do. An E
//     closes the innermost open B of its name; when there is none, or it has no name, the innermost
//     open B, but in Composer's files (which have global_rank events) none; an E that finds none is
//     an orphan. A B that is never closed is no span.
//   * A file may lack its last ] (and end in a comma); else it has to be valid JSON, or
//     std::runtime_error is thrown.
#pragma once

#include "oracle/json_value.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::oracle {

struct Input {
  std::string text;  // uncompressed
  std::int64_t rank = 0;
  std::int64_t shift_ns = 0;
  // The shift of events that have no Unix time by their size (before 1973) in a file where other
  // events have one.
  std::optional<std::int64_t> relative_shift_ns = {};
  // Shifts on top of these, by the time that they give: straight between two, constant outside;
  // rounded down. Only merge() knows of them.
  std::vector<std::pair<std::int64_t, std::int64_t>> drift = {};
};

// Reads a file, gzip or plain. Throws std::runtime_error when it cannot be read.
Input load(const std::string& path, std::int64_t rank = 0, std::int64_t shift_ns = 0);

struct Span {
  std::string name;
  char phase;  // X, or B for a matched pair
  std::int64_t start_ns;
  std::int64_t duration_ns;
  bool on_device = false;  // true if its category is a device's

  friend auto operator<=>(const Span&, const Span&) = default;
};

struct FileSpans {
  std::vector<Span> spans;
  std::uint64_t orphan_ends = 0;      // E without a B
  std::uint64_t unclosed_begins = 0;  // B without an E
};

FileSpans find_spans(const Input& input);

// The B and E events of a trace, by their numbers in its list of events.
struct BeginEnds {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // B, E
  std::vector<std::size_t> orphans;                        // E without a B
  std::vector<std::size_t> unclosed;                       // B without an E
};

BeginEnds find_begin_ends(const Json& document);

struct SummaryRow {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t mean_ns = 0;  // halves up
  std::int64_t p50_ns = 0;   // nearest rank: sorted[ceil(p * count) - 1]
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  double stddev_ns = 0;  // deviation of the sample (n - 1); 0 for one span
  bool on_device = false;

  friend bool operator==(const SummaryRow&, const SummaryRow&) = default;
};

// One row a name, over all files, or two: of the host, and of devices. Sorted by name, in this
// order.
std::vector<SummaryRow> summarize(const std::vector<Input>& inputs);

struct MergedEvent {
  std::int64_t rank;
  std::int64_t ts_ns;
  char phase;
  std::string name;  // "" when there is none or it is no string
  std::string cat;
  std::int64_t duration_ns;  // 0 but for X
  std::string args;          // canonical_text(), "" when there are none

  friend auto operator<=>(const MergedEvent&, const MergedEvent&) = default;
};

// Every event but metadata (M), with its file's rank and shift; sorted. B and E are one X, with the
// args of both; a B that is never closed ends with the last event of its file, or of its rank where
// the global_rank events of the file name several. Old async events (S, T, p, F) are new ones (b,
// n, e): a step (T, p) begins or ends a slice of its own name, an n outside of any operation. What
// a merge adds to them is left out. Clock syncs (c) are instants, counters have their numbers only,
// and none without any. Slices and instants without a name, and arrows without a category, have
// "(none)". Pids, tids and ids are left out: a merge rewrites them.
std::vector<MergedEvent> merge(const std::vector<Input>& inputs);

// The slices (X) that arrows end at: of each f without "bp": "e" its name and that of its slice.
// That is the next one on its row: at its time the first after it in the list, or else the longest
// of those that begin next. "" stands for no slice. Sorted.
std::vector<std::pair<std::string, std::string>> next_slices(const Json& document);

}  // namespace traceloom::oracle
