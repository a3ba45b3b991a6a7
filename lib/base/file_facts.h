// FileFacts: what every report tells of an input, whatever else it is about.
//
//   for (const FileFacts& file : run.files) use(file.path, file.events);
#pragma once

#include "base/problems.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct FileFacts {
  std::string path;
  std::optional<std::int64_t> rank = {};  // none for a merged file, and for one that was left out
  std::vector<std::int64_t> ranks = {};   // of a merged file
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;  // uncompressed
  std::string error = {};        // why it could not be read; empty when it could
  bool is_repeat = false;        // left out, as `problems` say: others hold its events (repeats.h)
  ProblemCounts problems = {};   // of what was read, and of ranks
};

}  // namespace traceloom
