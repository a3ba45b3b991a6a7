#include "analysis/mesh/pipeline.h"

namespace traceloom {

std::int64_t find_chunks(const Run& run, const Mesh& mesh) {
  if (mesh.stages < 2) return mesh.source.empty() ? 0 : 1;
  std::int64_t onward = 0;  // forward from the first stage
  std::int64_t around = 0;  // forward from the last stage
  for (const Message& message : match_collectives(run).messages) {
    const MeshPlace* const from = mesh.place_of(message.from);
    if (message.way != MessageWay::forward || from == nullptr) continue;
    if (from->stage == 0) ++onward;
    if (from->stage == mesh.stages - 1) ++around;
  }
  const bool fits = onward > around && onward % (onward - around) == 0;
  return fits ? onward / (onward - around) : 0;
}

}  // namespace traceloom
