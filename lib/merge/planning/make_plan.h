// make_plan: decides what a merge writes, from the surveys of its inputs, or refuses.
#pragma once

#include "input/input_list.h"
#include "merge/facts/file_survey.h"
#include "merge/options/plan_options.h"
#include "merge/plan/plan.h"

#include <vector>

namespace traceloom {

// Throws Error for what plan_checks.h refuses, and UsageError when an event lies before the origin
// that was given: both name what to do.
MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    const PlanOptions& options = {});

}  // namespace traceloom
