// TrackCache: the track of an event, looked up once for neighbours of the same track.
//
//   TrackCache tracks;                                                    // one at a time uses it
//   const TrackTarget* target = tracks.find(plan.tracks, file, event);    // nullptr: not planned
#pragma once

#include "event/event.h"
#include "merge/track_plan.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace traceloom {

class TrackCache {
 public:
  const TrackTarget* find(const TrackPlan& plan, std::size_t file, const Event& event) {
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    if (track_ == nullptr || file_ != file || pid != pid_ || tid != tid_) {
      track_ = plan.target(file, pid, tid, scratch_);
      file_ = file;
      pid_ = pid;
      tid_ = tid;
    }
    return track_;
  }

 private:
  const TrackTarget* track_ = nullptr;
  std::size_t file_ = 0;
  std::string pid_;
  std::string tid_;
  std::string scratch_;
};

}  // namespace traceloom
