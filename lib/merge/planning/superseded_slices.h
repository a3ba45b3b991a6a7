// Which cut slices (slices/cut_slices.h) another file has whole.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <vector>

namespace traceloom {

// Sets FilePlan::superseded. The tracks are planned.
void plan_cut_slices(const std::vector<FileSurvey>& surveys, MergePlan& plan);

}  // namespace traceloom
