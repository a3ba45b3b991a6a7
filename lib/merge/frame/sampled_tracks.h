// SampledTracks: which track of a file a top-level sample is of. Samples know their thread by tid
// alone; a merge adds the pid, so that it can be merged again.
//
//   SampledTracks tracks(survey.tracks);
//   std::optional<std::size_t> track = tracks.find(find_member(sample, "pid"), "7");
#pragma once

#include "merge/facts/file_survey.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class SampledTracks {
 public:
  explicit SampledTracks(const std::vector<TrackFacts>& tracks);

  // By the JSON text of the two; without a pid the busiest thread of that tid. nullopt when there
  // is none. The place of a track, of several that are one thread that of the first.
  std::optional<std::size_t> find(std::string_view pid, std::string_view tid) const;
  // The next track will be of that pid and tid.
  void add(const TrackFacts& track);

 private:
  struct Thread {
    std::size_t track = 0;
    std::uint64_t events = 0;
  };
  std::map<std::string, std::map<std::string, Thread>> threads_;  // by canonical tid, pid
  std::size_t tracks_ = 0;
};

// Notes which tracks the samples (a JSON list) are of, and adds those of threads that do nothing
// else.
void mark_sampled_tracks(std::string_view samples, std::vector<TrackFacts>& tracks);

}  // namespace traceloom
