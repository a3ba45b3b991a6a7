// why_too_large(): says which inputs would take more memory than any viewer could show, and which
// option accepts them all the same.
//
//   if (const std::string reason = why_too_large(survey, options); !reason.empty()) refuse(reason);
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"

#include <string>

namespace traceloom {

// Returns an empty text if the file is accepted.
std::string why_too_large(const FileSurvey& survey, const MergeOptions& options);
// Returns the reason that a survey may not see.
std::string too_many_begins(const MergeOptions& options);

}  // namespace traceloom
