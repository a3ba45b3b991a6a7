// guess_surveys(): guesses from samples of the inputs what a survey will find. So a merge can write
// in the same pass that surveys, and needs a second pass only if the guess was wrong.
//
//   if (const std::optional<std::vector<FileSurvey>> guess = guess_surveys(paths, 2, {}))
//     guessed = make_plan(inputs, *guess);       // write with it, survey meanwhile, then
//   if (writes_the_same(guessed, plan)) done();
#pragma once

#include "input/byte_source.h"
#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Reads the beginning, the end and a few places between of each file, 1.3 MiB at most; a packed
// file has to be unpacked for that. Returns nullopt if a file does not allow a guess: it is no
// regular file, no trace, or has been merged before. Counts, offsets and problems of the surveys
// mean nothing. `threads` 0 means as many as there are cores; `shared_flows` is as in PlanOptions;
// `watch` notes the state of the files.
std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads,
                                                     const std::vector<std::string>& shared_flows,
                                                     FileWatch& watch);

// Returns true if both plans write the same for every event and for all that stands before the
// events. The plans are for the same files; `plan` is made of complete surveys.
bool writes_the_same(const MergePlan& guess, const MergePlan& plan);

}  // namespace traceloom
