// A summary as text, CSV, JSON or Markdown.
//
//   std::fputs(render_summary(summary, TableFormat::text, {.width = 120}).c_str(), stdout);
//
// The JSON document, of which keys are only ever added:
//   {"schema_version":1,"command":"summarize",
//    "files":[{"path","rank","ranks","events","text_bytes","error"}],
//    "rows":[{"rank","name","category","count","total_ns","mean_ns","min_ns","p50_ns","p90_ns","p99_ns",
//             "max_ns","stddev_ns","share"}],
//    "problems":[{"file","kind","count","first_offset"}]}
// "rank" stands in rows only when they are grouped by it, "name" is null when they are not grouped
// by that; CSV has the columns of "rows".
#pragma once

#include "summarize/summarize.h"
#include "table/table.h"

#include <string>

namespace traceloom {

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style);

}  // namespace traceloom
