// render_summary: writes a summary as text, CSV, JSON or Markdown.
//
//   std::fputs(render_summary(summary, TableFormat::text, {.width = 120}).c_str(), stdout);
//
// This is the JSON document; later versions only add keys:
//   {"schema_version":1,"command":"summarize",
//    "files":[{"path","rank","ranks","events","text_bytes","error"}],
//    "rows":[{"rank","name","category","count","total_ns","mean_ns","min_ns","p50_ns","p90_ns","p99_ns",
//             "max_ns","stddev_ns","share"}],
//    "problems":[{"file","kind","count","first_offset"}]}
// Rows have "rank" only if they are grouped by rank. "name" is null if rows are not grouped by
// name. CSV has the columns of "rows".
#pragma once

#include "summarize/summarize.h"
#include "table/table.h"

#include <string>

namespace traceloom {

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style);

}  // namespace traceloom
