// group_ranks: the tables of a report with a row for each stage, or another part of a mesh, in
// place of each rank.
//
//   group_ranks(report, run, MeshPart::stage);        // "stage" in place of "rank"
#pragma once

#include "analysis/mesh/mesh.h"
#include "analysis/report.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace traceloom {

enum class MeshPart : std::uint8_t { stage, tp, dp, ep, node };
// The names stand in the order of the enum.
inline constexpr std::array<std::string_view, 5> kMeshPartNames{"stage", "tp", "dp", "ep", "node"};

// Groups the tables whose rows have ranks, as Table::grouped() does, but for those that place ranks
// in stages. Throws Error if the traces do not tell the part of any rank, or no table has ranks.
void group_ranks(Report& report, const Run& run, MeshPart part);

}  // namespace traceloom
