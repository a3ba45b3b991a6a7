// Baseline: captures of a version in one small file, so that later versions can be compared with it
// without its traces.
//
//   Baseline baseline;
//   baseline.append({make_capture(run, "c0")});
//   const std::string text = baseline_json(baseline);      // written to base.json
//   compare({read_baseline("base.json").runs.back(), changed}, {})
//
// It holds all that a comparison needs, so the answer is the same as with the traces. Captures of
// one call are a run: they share day and machine. A file of several runs is a store, which shows
// the noise between runs; the runs before the newest one have only their steps. The file is JSON,
// described in docs/commands/baseline.md; a later version of the tools reads it or refuses it.
#pragma once

#include "comparison/captures/capture.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kMostCaptures = 20;  // of a run; older ones are left out

struct Baseline {
  std::string reason = {};                      // why this version was accepted; "" for the first
  std::vector<std::vector<Capture>> runs = {};  // of this version, oldest first

  // Adds a run of the same version. The first kFirstRuns and the newest kNewestRuns stay. No
  // captures are no run.
  void append(std::vector<Capture> run);
  // Begins a version, which has no runs yet.
  void accept(const std::string& why);
};

std::string baseline_json(const Baseline& baseline);

// True if the file begins like a baseline, and for a pipe: a capture is read from files alone.
bool is_baseline(const std::string& path);
// Throws Error for a file that cannot be read, or is no baseline of this version.
Baseline read_baseline(const std::string& path);

}  // namespace traceloom
