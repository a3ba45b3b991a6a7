// Writes tables as JSON: durations in ns, shares from 0 to 1, empty cells as null.
//
//   json.begin_object(); json.key("schema_version"); json.value(1);
//   json.key("kernels"); append_rows(json, table); json.end_object();
#pragma once

#include "output/json_writer.h"
#include "table/table.h"

#include <string>

namespace traceloom {

// Writes one value: an array of objects with the column keys. Each row stays on one line, even if
// `json` indents.
void append_rows(JsonWriter& json, const Table& table);

// Returns the array alone, as a document.
std::string json_report(const Table& table);

}  // namespace traceloom
