// Makes the plan of a merge from the surveys of its inputs: the order of the files, slices that
// are superseded, and all the rest.
#pragma once

#include "identity/capture/capture.h"
#include "input/input_list.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// file_order(): the order in which files are written.
//
//   plan.order = file_order(surveys, plan);   // {1, 0}: the second file is an earlier cycle
//
// It is the order of the inputs, except that the cycles of a rank are sorted by their first event:
// viewers take the samples of a counter in the order of the file, and a shell names ep0-ba10 before
// ep0-ba2.

// Returns all files of the plan, each once. The files of a rank are sorted among the places that
// they have in the inputs; files without events, and files that were merged before, stay where they
// are.
std::vector<std::size_t> file_order(const std::vector<FileSurvey>& surveys, const MergePlan& plan);

// Which cut slices (slices/slice_facts.h) another file has whole.

// Sets FilePlan::superseded. The tracks are planned.
void plan_cut_slices(const std::vector<FileSurvey>& surveys, MergePlan& plan);

// make_plan: decides what a merge writes, from the surveys of its inputs and what they are
// together, or refuses. All have one entry an input.

// Throws Error for what plan_checks.h refuses, and UsageError when an event lies before the origin
// that was given: both name what to do.
MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    const RunInputs& capture, const PlanOptions& options = {});

}  // namespace traceloom
