#include "analysis/mesh/mesh.h"

namespace traceloom {

Axis Mesh::axis_of(const ProcessGroup& group) const {
  for (const JobGroup& one : groups)
    if (one.name == group.name && one.description == group.description) return one.axis;
  return Axis::other;
}

const Mesh& find_mesh(const Run& run) {
  return run.memo.get<Mesh>([&] { return Mesh{}; });
}

}  // namespace traceloom
