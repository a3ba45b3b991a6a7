// write_filter(): writes what a merge was asked to keep as JSON into the trace, so that whoever
// opens it sees that it is not complete.
//
//   json.key("filter");
//   write_filter(json, filter);
#pragma once

#include "merge/options/merge_filter.h"
#include "output/json_writer.h"

namespace traceloom {

// Writes an object with what was asked for and no more: {"ranks": [[first, last], ...], "time_ns":
// [from, to], "steps": [first, last], "categories", "exclude_categories", "names", "exclude_names":
// lists of texts, "min_duration_ns"}. An end that was left open is null.
void write_filter(JsonWriter& json, const MergeFilter& filter);

}  // namespace traceloom
