// SampleTracks: places top-level samples in the output: their times, threads and stack frames.
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

  // Finds a track by the JSON text of pid and tid, as SampledTracks does; returns nullptr if there
  // is none.
  const TrackTarget* find(std::string_view pid, std::string_view tid) const;

 private:
  const MergePlan& plan_;
  const std::vector<TrackFacts>& tracks_;
  std::size_t file_;
  SampledTracks known_;
};

// Returns whether the plan writes the rank and the time of a sample. To a filter a sample has
// neither a name nor a category.
bool writes_sample(std::string_view sample, const MergePlan& plan, std::size_t file,
                   const SampleTracks& tracks);

// Appends a sample whose time time_sample() can read.
void append_sample(std::string& out, std::string_view sample, const FilePlan& file,
                   const SampleTracks& tracks);

}  // namespace traceloom
