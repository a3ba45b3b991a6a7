// top_frames: finds the Python functions that took the time in which the host did nothing else.
//
//   for (const FrameSum& frame : top_frames(run, rank, host_code, steps)) use(frame.name);
//
// Frames nest. Frames around nearly all of the steps explain nothing. Of the others the outermost
// is reported, together with the innermost one in it that has most of its time.
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
  std::string file;        // "transformers/pipelines/video_classification.py"; "" for a function
                           // without a file
  std::int64_t ns = 0;     // time of the code in it, including functions that it called
  std::string inner = {};  // text() of the frame in it that has most of that time
  std::int64_t inner_ns = 0;

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(name, file, ns, inner, inner_ns);
  }

  // Returns "preprocess (transformers/pipelines/video_classification.py)".
  std::string text() const;
};

// Splits "torch/utils/_contextlib.py(117): decorate_context" into its parts, and removes the
// address from "<built-in method to of Tensor object at 0x7cc1>".
FrameSum read_frame(std::string_view label);

// Returns, by track, whether the host gives work to devices, or marks steps, on that thread.
// Python's frames on other threads prove nothing about the steps.
std::vector<bool> host_tracks(const Run& run, const RankEvents& rank);

// Returns the functions of one rank, the longest first. `code` is the time to explain, in `steps`.
std::vector<FrameSum> top_frames(const Run& run, const RankEvents& rank, const Intervals& code,
                                 const Intervals& steps);

}  // namespace traceloom
