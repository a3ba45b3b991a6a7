// TrackCache: the track of an event, looked up once for neighbours of the same track.
//
//   TrackCache tracks;                                                    // one at a time uses it
//   const TrackTarget* target = tracks.find(plan.tracks, file, event);    // nullptr: not planned
#pragma once

#include "event/event.h"
#include "merge/gpu_rows.h"
#include "merge/track_key.h"
#include "merge/track_plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

class TrackCache {
 public:
  // Of the events of a chunk in their order: see GpuRowFinder.
  const TrackTarget* find(const TrackPlan& plan, std::size_t file, const Event& event) {
    if (plan.has_gpu_tracks(file)) return find_unfolded(plan, file, event);
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
  // For the next chunk.
  void reset() { gpu_rows_.reset(); }

 private:
  const TrackTarget* find_unfolded(const TrackPlan& plan, std::size_t file, const Event& event) {
    const std::optional<std::string> gpu = gpu_rows_.find(event);
    track_key(event.text(Key::pid), event.text(Key::tid), scratch_);
    return plan.target(file, gpu ? add_gpu(scratch_, *gpu) : scratch_);
  }

  GpuRowFinder gpu_rows_;
  const TrackTarget* track_ = nullptr;
  std::size_t file_ = 0;
  std::string pid_;
  std::string tid_;
  std::string scratch_;
};

}  // namespace traceloom
