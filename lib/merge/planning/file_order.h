// file_order(): the order in which files are written.
//
//   plan.order = file_order(surveys, plan);   // {1, 0}: the second file is an earlier cycle
//
// It is the order of the inputs, except that the cycles of a rank are sorted by their first event:
// viewers take the samples of a counter in the order of the file, and a shell names ep0-ba10 before
// ep0-ba2.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// Returns all files of the plan, each once. The files of a rank are sorted among the places that
// they have in the inputs; files without events, and files that were merged before, stay where they
// are.
std::vector<std::size_t> file_order(const std::vector<FileSurvey>& surveys, const MergePlan& plan);

}  // namespace traceloom
