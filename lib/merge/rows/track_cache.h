// TrackCache: finds the track of an event, with one look-up for neighbours of the same track.
//
//   TrackCache tracks;
//   const TrackTarget* target = tracks.find(plan.tracks, file, event);    // nullptr: not planned
//
// One thread at a time may use it.
#pragma once

#include "base/same_text.h"
#include "event/event.h"
#include "merge/rows/gpu_rows.h"
#include "merge/rows/track_key.h"
#include "merge/rows/track_plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

class TrackCache {
 public:
  // Must be called for the events of a chunk in their order: see GpuRowFinder.
  const TrackTarget* find(const TrackPlan& plan, std::size_t file, const Event& event) {
    std::optional<std::string_view> gpu;
    if (plan.has_gpu_tracks(file)) gpu = gpu_rows_.find(event);
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    // Two tracks are kept, because launches and what they launched take turns.
    Found& found = gpu ? on_gpu_ : on_thread_;
    if (found.track == nullptr || found.file != file || !same_text(tid, found.tid) ||
        !same_text(pid, found.pid) || (gpu && *gpu != found.gpu)) {
      track_key(pid, tid, scratch_);
      found.track = plan.target(file, gpu ? add_gpu(scratch_, *gpu) : scratch_);
      found.file = file;
      found.pid = pid;
      found.tid = tid;
      found.gpu = gpu.value_or("");
    }
    return found.track;
  }
  // Prepares for the next chunk.
  void reset() { gpu_rows_.reset(); }

 private:
  struct Found {
    const TrackTarget* track = nullptr;
    std::size_t file = 0;
    std::string pid;
    std::string tid;
    std::string gpu;
  };
  GpuRowFinder gpu_rows_;
  Found on_thread_;
  Found on_gpu_;
  std::string scratch_;
};

}  // namespace traceloom
