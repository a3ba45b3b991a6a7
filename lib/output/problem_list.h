// The problems of an input as JSON objects: one form in all reports and in merged traces.
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

// One {"file", "kind", "count", "first_offset"} a kind, with "detail" where there is more to say,
// into the array that is open.
void write_problems(JsonWriter& json, std::string_view file, const ProblemCounts& problems);

}  // namespace traceloom
