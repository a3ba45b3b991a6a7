// FileFacts: the facts about an input that every report shows.
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
  std::optional<std::int64_t> rank = {};  // absent for a merged file and for a file that was left
                                          // out
  std::vector<std::int64_t> ranks = {};   // the ranks of a merged file
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;  // uncompressed
  std::string error = {};        // why the file could not be read; empty after a success
  bool is_repeat = false;        // the file was left out because others hold its events
                                 // (repeats.h); `problems` names them
  ProblemCounts problems = {};   // problems of the text and of the ranks
};

}  // namespace traceloom
