// The pipeline of a mesh: how many parts of the model a stage has, and in which order it works.
#pragma once

#include "analysis/mesh/mesh.h"
#include "analysis/waits/step_roles.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// Returns the number of parts of the model (chunks) that each stage has, more than one in
// interleaved schedules; 0 if the messages do not show it. For each micro-batch a stage sends
// forward once for each part, but the last stage does not for the last part: it sends `v` - 1 to
// the first stage for `v` that the first one sends on.
std::int64_t find_chunks(const Run& run, const Mesh& mesh);

// The forward and backward work of one rank of a stage in one step, in order.
struct StageWork {
  std::int64_t stage = 0;
  std::int64_t rank = 0;
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::string order = {};
};

// Returns the work of one rank of each stage (with place 0 along all other axes) in the counted
// step of median length, by stage. It is empty if messages do not show it.
std::vector<StageWork> find_grid(const Run& run, const Mesh& mesh,
                                 const std::vector<RankRoles>& roles);

}  // namespace traceloom
