// The formats of tables: text for a terminal, CSV, JSON, Markdown.
#pragma once

#include "output/json_writer.h"
#include "table/table.h"

#include <string>
#include <string_view>

namespace traceloom {

// Renders a table for a terminal: aligned columns, numbers for people, a rule under the titles.
//
//   Name  Instances     Total   Time
//   ────  ─────────  ────────  ─────
//   gemm     41,233  1.234 ms  12.3 %

struct TextReport {
  std::string text;
  bool has_more = false;  // the width had no room for some columns
};

// The note to print under tables with has_more.
inline constexpr std::string_view kMoreColumnsNote =
    "more columns: --wide, a wider terminal, --format csv or json";

// With a style.width, columns are left out until the rest fits with readable names. They go in this
// order: those that are 0 or empty in all rows, then those for the fewest readers, the last one
// first. Columns for all readers stay. Then the widest text columns are cut, but not below a
// readable width, so the table may still be wider than the terminal.
TextReport text_report(const Table& table, const TextStyle& style);

// Writes CSV by RFC 4180, but with LF: a header of column keys, one line a row, times in ns.

// Names are written byte for byte, except bytes that are not UTF-8. Spreadsheets run a text that
// begins with = + - @, a tab or the end of a line: for them such a text gets an apostrophe before
// it, as a user would type it. Numbers stay numbers.
std::string csv_report(const Table& table, bool for_spreadsheets = false);

// Writes tables as JSON: durations in ns, shares from 0 to 1, empty cells as null.
//
//   json.begin_object(); json.key("schema_version"); json.value(1);
//   json.key("kernels"); append_rows(json, table); json.end_object();

// Writes one value: an array of objects with the column keys. Each row stays on one line, even if
// `json` indents.
void append_rows(JsonWriter& json, const Table& table);

// Returns the array alone, as a document.
std::string json_report(const Table& table);

// Writes a GitHub-flavoured Markdown table, padded so that its source is readable too.

// Names look unchanged: characters that Markdown or HTML would interpret (<float>, *, |) are
// escaped.
std::string markdown_report(const Table& table);

// Returns the text with the entities of HTML and XML for what begins markup: & < > and quotes.
std::string markup_text(std::string_view text);

// Returns one line of text that looks unchanged: characters that Markdown, HTML or a terminal would
// interpret are escaped.
std::string markdown_line(std::string_view text);

}  // namespace traceloom
