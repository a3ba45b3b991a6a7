// Top-level samples: their times, threads and stack frames in the output.
//
//   const SampleTracks tracks(plan, surveys, file);
//   if (writes_sample(sample, plan, file, tracks))
//     append_sample(text, sample, plan.files[file], tracks);
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/frame/sampled_tracks.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class SampleTracks {
 public:
  SampleTracks(const MergePlan& plan, const std::vector<FileSurvey>& surveys, std::size_t file)
      : plan_(plan), tracks_(surveys[file].tracks), file_(file), known_(tracks_) {}

  // By the JSON text of the two, as SampledTracks has it. nullptr when there is none.
  const TrackTarget* find(std::string_view pid, std::string_view tid) const;

 private:
  const MergePlan& plan_;
  const std::vector<TrackFacts>& tracks_;
  std::size_t file_;
  SampledTracks known_;
};

// Whether a sample is of a rank and of a time that the plan writes: to a filter it has neither a
// name nor a category.
bool writes_sample(std::string_view sample, const MergePlan& plan, std::size_t file,
                   const SampleTracks& tracks);

// Appends a sample of which time_sample() knows the time.
void append_sample(std::string& out, std::string_view sample, const FilePlan& file,
                   const SampleTracks& tracks);

}  // namespace traceloom
