// Top-level samples: which track of their file they belong to.
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

// SampledTracks: finds the track of a file that a top-level sample belongs to. Samples know their
// thread by tid alone; a merge adds the pid, so that it can be merged again.
//
//   SampledTracks tracks(survey.tracks);
//   std::optional<std::size_t> track = tracks.find(find_member(sample, "pid"), "7");

class SampledTracks {
 public:
  explicit SampledTracks(const std::vector<TrackFacts>& tracks);

  // Finds a track by the JSON text of pid and tid; without a pid, the busiest thread of that tid.
  // Returns the place of the track, or of the first of several tracks that are one thread; nullopt
  // if there is none.
  std::optional<std::size_t> find(std::string_view pid, std::string_view tid) const;
  // Adds the next track, with its pid and tid.
  void add(const TrackFacts& track);

 private:
  struct Thread {
    std::size_t track = 0;
    std::uint64_t events = 0;
  };
  // Keys: canonical tid, canonical pid.
  std::map<std::string, std::map<std::string, Thread>> threads_;
  std::size_t tracks_ = 0;
};

// Marks the tracks that the samples (a JSON list) belong to, and adds tracks for threads that have
// nothing but samples.
void mark_sampled_tracks(std::string_view samples, std::vector<TrackFacts>& tracks);

}  // namespace traceloom
