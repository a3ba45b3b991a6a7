// The pipeline of a mesh: how many parts of the model a stage has.
#pragma once

#include "analysis/mesh/mesh.h"

#include <cstdint>

namespace traceloom {

// Returns the number of parts of the model (chunks) that each stage has, more than one in
// interleaved schedules; 0 if the messages do not show it. For each micro-batch a stage sends
// forward once for each part, but the last stage does not for the last part: it sends `v` - 1 to the
// first stage for `v` that the first one sends on.
std::int64_t find_chunks(const Run& run, const Mesh& mesh);

}  // namespace traceloom
