// Makes the plan of a merge from the surveys of its inputs.
#pragma once

#include "identity/capture/capture.h"
#include "input/input_list.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/plan/plan.h"

#include <vector>

namespace traceloom {

// Decides what a merge writes, from the surveys of its inputs and what they are together, or
// refuses. All have one entry an input. Throws Error for inputs that do not fit together (clocks
// that nothing relates), and UsageError for options that move nothing and when an event lies before
// the origin that was given: all name what to do.
MergePlan make_plan(const std::vector<Input>& inputs, std::vector<FileSurvey> surveys,
                    const RunInputs& capture, const PlanOptions& options = {});

}  // namespace traceloom
