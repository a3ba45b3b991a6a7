// What a survey of the inputs will most likely find, from samples of their text: so that a merge
// can write in the same pass that surveys, and needs a second one only where the guess was wrong.
//
//   if (const std::optional<std::vector<FileSurvey>> guess = guess_surveys(paths, 2, {}))
//     plan = make_plan(inputs, *guess);          // write by that, survey meanwhile, then
//   if (writes_the_same(guessed, guess, plan, surveys)) done();
#pragma once

#include "input/file_watch.h"
#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Reads the beginning, the end and a few places between of each file, 1.3 MiB at most; a packed one
// has to be unpacked for that. nullopt when a file does not allow a guess: it is no regular file,
// no trace, or has been merged before. Counts, offsets and problems of the surveys mean nothing.
// `threads` 0: as many as there are cores; `shared_flows` as in PlanOptions; `watch` learns what
// the files were like.
std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads,
                                                     const std::vector<std::string>& shared_flows,
                                                     FileWatch& watch);

// True when every event, and all that stands before the events, is written the same by both plans.
// The plans are of the same files; `plan` is made of complete surveys.
bool writes_the_same(const MergePlan& guess, const std::vector<FileSurvey>& guess_surveys,
                     const MergePlan& plan, const std::vector<FileSurvey>& surveys);

}  // namespace traceloom
