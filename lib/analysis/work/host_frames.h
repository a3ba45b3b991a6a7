// HostFrames: which Python functions took the time in which the host did nothing else.
//
//   for (const FrameSum& frame : top_frames(run, rank, host_code, steps)) use(frame.name);
//
// Frames are in each other. Those around nearly all of the steps say nothing; of the others the
// outermost is told, with the innermost one in it that has most of its time.
#pragma once

#include "run/intervals.h"
#include "run/run.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct FrameSum {
  std::string name;        // "preprocess"
  std::string file;        // "transformers/pipelines/video_classification.py"; "" of what has none
  std::int64_t ns = 0;     // of the code, with all that it called
  std::string inner = {};  // the same of the one in it that has most of that, as text()
  std::int64_t inner_ns = 0;

  // "preprocess (transformers/pipelines/video_classification.py)".
  std::string text() const;
};

// "torch/utils/_contextlib.py(117): decorate_context" in its parts; "<built-in method to of Tensor
// object at 0x7cc1>" without its address.
FrameSum read_frame(std::string_view label);

// Rows of threads on which the host gives work to devices, or marks steps: of others Python's
// frames tell nothing about the steps. By track.
std::vector<bool> host_tracks(const Run& run, const RankEvents& rank);

// Of one rank, the most first. `code` is what is to be explained, in `steps`.
std::vector<FrameSum> top_frames(const Run& run, const RankEvents& rank, const Intervals& code,
                                 const Intervals& steps);

}  // namespace traceloom
