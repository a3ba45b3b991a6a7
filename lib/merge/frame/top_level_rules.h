// TopLevelRule: what a merge does with a value that stands next to the event list of an input.
//
//   rule_of("stackFrames") == TopLevelRule::frames
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

enum class TopLevelRule : std::uint8_t {
  own,         // the merge writes it itself, or has used it up
  run,         // describes the run: stays where it is if all files say the same
  frames,      // stackFrames: all in one dictionary
  samples,     // samples: all in one list
  dictionary,  // VizTracer's: values that do not contradict, in one dictionary
  metadata,    // Chromium's: what catapult reads of it stays if all files say the same
  subtrace,    // another trace in another form; its times cannot be moved
  other_data,  // otherData of a merge: what it says of its ranks is kept
  rank,        // anything else: under otherData.ranks
};
TopLevelRule rule_of(std::string_view key);

// True for the members of `metadata` that catapult reads.
bool is_kept_metadata(std::string_view key);
// Returns false for a systemTraceEvents that is no text: Perfetto stops at it.
bool is_kept_subtrace(const TopLevelEntry& entry);
// Returns a sample's time, or nullopt if the sample is no object or has no usable time. Such a
// sample is left out.
std::optional<std::int64_t> time_sample(std::string_view sample);

// Makes strict JSON of the values next to the event list, and adds what they say: times and tracks
// of samples, groups of stack frames, problems.
void survey_top_level(FileSurvey& survey);
// Fills FilePlan::keeps_subtraces and problems: an embedded trace stays if no other file has one
// and the times of its file do not change.
void plan_subtraces(const std::vector<FileSurvey>& surveys, MergePlan& plan);

}  // namespace traceloom
