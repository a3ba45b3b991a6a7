// Top-level samples: their times, threads and stack frames in the output.
//
//   const SampleTracks tracks(plan, surveys, file);
//   if (writes_sample(sample, plan, file, tracks))
//     append_sample(text, sample, plan.files[file], tracks);
#pragma once

#include "merge/file_survey.h"
#include "merge/plan.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Samples know their thread by tid alone; a merge adds the pid, so that it can be merged again.
class SampleTracks {
 public:
  SampleTracks(const MergePlan& plan, const std::vector<FileSurvey>& surveys, std::size_t file);

  // By the JSON text of the two; without a pid, the busiest thread of that tid. nullptr when there
  // is none.
  const TrackTarget* find(std::string_view pid, std::string_view tid) const;

 private:
  struct Thread {
    const TrackTarget* target = nullptr;
    std::uint64_t events = 0;
  };
  std::map<std::string, std::map<std::string, Thread>> threads_;  // by canonical tid, pid
};

// Whether a sample is of a rank and of a time that the plan writes: to a filter it has neither a
// name nor a category.
bool writes_sample(std::string_view sample, const MergePlan& plan, std::size_t file,
                   const SampleTracks& tracks);

// Appends a sample of which time_sample() knows the time.
void append_sample(std::string& out, std::string_view sample, const FilePlan& file,
                   const SampleTracks& tracks);

}  // namespace traceloom
