// The order in which files are written.
//
//   plan.order = file_order(surveys, plan);   // {1, 0}: the second file is an earlier cycle
//
// That of the inputs, but the cycles of a rank stand by their first event: viewers take the samples
// of a counter in the order of the file, and a shell names ep0-ba10 before ep0-ba2.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// All files of the plan, each once. Those of a rank share out the places that they have among the
// inputs; files without events, and those that were merged before, stay where they are.
std::vector<std::size_t> file_order(const std::vector<FileSurvey>& surveys, const MergePlan& plan);

}  // namespace traceloom
