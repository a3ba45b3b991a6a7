// share_surveys(), share_selection(): what each process of a team has found in its files, for all
// of them, so that each makes the same plan.
//
//   scan_files(paths, visitor, {.files = own});
//   SurveyedFiles found{visitor.take_surveys(), {}, failed, left_out};
//   share_surveys(team, own, most_tracks, found);                      // now it has those of all
#pragma once

#include "base/file_block.h"
#include "merge/facts/file_survey.h"
#include "merge/facts/filter_facts.h"
#include "merge/keep/selection_visitor.h"
#include "merge/options/merge_summary.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace traceloom {

struct SurveyedFiles {
  std::vector<FileSurvey> surveys;  // one an input
  std::vector<FilterFacts> facts;   // one an input, or none at all
  std::set<std::size_t> failed;     // inputs that could not be read
  std::vector<LeftOut> left_out;    // the same inputs, in the same order
};

// `own` are the inputs that this process has read; each vector has an entry for all inputs. Counts
// the tracks of all files (count_tracks()). Memory: a message has what is known of all files.
void share_surveys(Team& team, const FileBlock& own, std::size_t most_tracks, SurveyedFiles& found);

// Each process has read the files that it will write.
void share_selection(Team& team, SelectionVisitor& visitor);

// Returns the lists of all processes one after the other, on all processes.
std::vector<std::vector<std::uint64_t>> gather_lists(Team& team,
                                                     std::vector<std::vector<std::uint64_t>> own);

}  // namespace traceloom
