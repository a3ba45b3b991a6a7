// Baseline: captures of a version in one small file, so that later versions can be compared with it
// without its traces.
//
//   Baseline baseline{.reason = "first", .captures = {make_capture(run, "c0")}};
//   const std::string text = baseline_json(baseline);      // written to base.json
//   compare({read_baseline("base.json").captures, changed}, {})
//
// It holds all that a comparison needs, so the answer is the same as with the traces. The file is
// JSON, described in docs/commands/baseline.md; a later version of the tools reads it or refuses
// it. Captures of accepted older versions keep only their number: they show the noise.
#pragma once

#include "comparison/captures/capture.h"

#include <cstddef>
#include <string>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kMostCaptures = 20;  // of a version; older ones are left out
inline constexpr std::size_t kMostVersions = 20;  // older versions

struct OlderVersion {
  std::string reason;           // why it was accepted
  std::vector<double> numbers;  // Capture::value_ns of its captures
};

struct Baseline {
  std::vector<OlderVersion> older = {};  // oldest first
  std::string reason = {};               // why this version was accepted
  std::vector<Capture> captures = {};

  // Adds captures of the same version; the oldest go if they are too many.
  void append(std::vector<Capture> more);
  // Begins a version; the captures so far become an older one.
  void accept(const std::string& why, std::vector<Capture> first);
};

std::string baseline_json(const Baseline& baseline);

// True if the file begins like a baseline, and for a pipe: a capture is read from files alone.
bool is_baseline(const std::string& path);
// Throws Error for a file that cannot be read, or is no baseline of this version.
Baseline read_baseline(const std::string& path);

}  // namespace traceloom
