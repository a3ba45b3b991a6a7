// Refuses merges whose files can be read one by one, but do not fit together.
#pragma once

#include "identity/clocks/clock_plan.h"
#include "identity/ranks/ranks.h"
#include "input/input_list.h"
#include "merge/facts/file_survey.h"
#include "merge/rows/track_plan.h"

#include <vector>

namespace traceloom {

// Refuses a file with events that says nothing about its clock while others do: it would stand next
// to them as if it were aligned. Throws Error with the options that help.
void refuse_unknown_clocks(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                           const std::vector<FileRank>& ranks, const ClockPlan& clocks);

// Refuses clock options that move nothing: an offset of a rank that is not there or that stands in
// a merged file with others, and AlignBy::sync if no input has a sync. Throws UsageError.
void refuse_vain_options(const std::vector<Input>& inputs, const std::vector<FileRank>& ranks,
                         const TrackPlan& tracks, const ClockPlan& clocks,
                         const ClockOptions& options);

}  // namespace traceloom
