// TrackPlan: where every (pid, tid) of the inputs goes in the merged trace, and what it is called
// there.
//
//   TrackPlan plan(surveys, ranks);
//   const TrackTarget* target = plan.target(file, "1166", "7");   // {"3", "10000004"}
//
// One process (pid) a rank. The threads of the rank's main process keep their tids where viewers
// can show them; everything else (GPU streams, "Spans", workers, tids that are text, 0, negative or
// above 2^32) gets a number from 10 000 000 on, above any tid of Linux. No two source threads share
// a tid; the same thread keeps its tid over all files of a rank.
#pragma once

#include "base/string_table.h"
#include "merge/file_survey.h"
#include "survey/ranks.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// As it is written into events.
struct TrackTarget {
  std::string pid;
  std::string tid;
  bool operator==(const TrackTarget&) const = default;
};

// A row of the merged trace.
struct OutputTrack {
  std::uint32_t tid = 0;
  std::string name;
};

// A process of the merged trace.
struct OutputRank {
  std::int64_t rank = 0;
  std::string name;    // "rank 3 · python3 (pid 1166)"
  std::string labels;  // all that the files gave, without repetition
  std::vector<OutputTrack>
      tracks;  // in the order in which they are shown; tracks[0] is the main thread
};

class TrackPlan {
 public:
  TrackPlan(const std::vector<FileSurvey>& surveys, const std::vector<FileRank>& ranks);

  // Of an event of `file`, by the JSON text of its pid and tid (empty when absent); nullptr when
  // the survey saw no such track.
  const TrackTarget* target(std::size_t file, std::string_view pid, std::string_view tid,
                            std::string& scratch) const;
  // The same on the row of a GPU, by what GpuRowFinder says of the event; only of files that have
  // such rows beside CPU threads of the same pid.
  const TrackTarget* gpu_target(std::size_t file, std::string_view pid, std::string_view tid,
                                std::string_view said_gpu, std::string& scratch) const;
  bool has_gpu_tracks(std::size_t file) const { return files_[file].has_gpu_tracks; }
  // True when it has every track of `other`, which is of the same files, at the same place.
  bool covers(const TrackPlan& other) const;
  // Ascending by rank. Every rank of an input is there, also one without events.
  const std::vector<OutputRank>& ranks() const { return ranks_; }

 private:
  struct FileTracks {
    StringTable keys;  // pid, '\0', tid, and for GPU rows beside CPU threads: '\0', gpu
    std::vector<TrackTarget> targets;
    bool has_gpu_tracks = false;
  };
  std::vector<FileTracks> files_;
  std::vector<OutputRank> ranks_;
};

}  // namespace traceloom
