// write_problems: writes the problems of an input as JSON objects, in the same form for all reports
// and merged traces.
//
//   json.key("problems");
//   json.begin_array();
//   for (const File& file : files) write_problems(json, file.path, file.problems);
//   json.end_array();
#pragma once

#include "base/problems.h"
#include "output/json_writer.h"

#include <string_view>

namespace traceloom {

// Writes one {"file", "kind", "count", "first_offset"} for each kind, with "detail" if the problem
// has an explanation, into the array that is open.
void write_problems(JsonWriter& json, std::string_view file, const ProblemCounts& problems);

}  // namespace traceloom
