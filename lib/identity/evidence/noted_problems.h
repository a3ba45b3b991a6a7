// add_noted_problems: takes over what a merge of ours has noted about the clocks of its inputs, so
// that it is still said of the merged file.
//
//   add_noted_problems(traceloom, problems);        // reads otherData.traceloom
#pragma once

#include "base/problems.h"
#include "json/json_document.h"

namespace traceloom {

// Adds clock_conflict, no_common_collective and ranks_apart: after the merge, the clocks are as
// they were, and nothing else shows it. The explanations begin with "found when it was merged: ".
void add_noted_problems(JsonValue traceloom, ProblemCounts& problems);

}  // namespace traceloom
