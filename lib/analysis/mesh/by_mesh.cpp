#include "analysis/mesh/by_mesh.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

std::int64_t place_on(const MeshPlace& place, MeshPart part) {
  if (part == MeshPart::tp) return place.tensor;
  if (part == MeshPart::dp) return place.data;
  return part == MeshPart::ep ? place.expert : place.stage;
}

// Returns the part of each rank, as a cell.
std::map<std::int64_t, Cell> parts_of(const Run& run, MeshPart part) {
  std::map<std::int64_t, Cell> parts;
  if (part == MeshPart::node)
    for (auto& [rank, node] : find_nodes(run)) parts[rank] = node;
  else
    for (const auto& [rank, place] : find_mesh(run).places) parts[rank] = place_on(place, part);
  return parts;
}

}  // namespace

void group_ranks(Report& report, const Run& run, MeshPart part) {
  const std::string_view name = kMeshPartNames[static_cast<std::size_t>(part)];
  const std::map<std::int64_t, Cell> parts = parts_of(run, part);
  if (parts.empty())
    throw Error(fmt::format("--by {}", name),
                part == MeshPart::node
                    ? "no file names its machine (host_name)"
                    : "the traces do not show how the ranks share the work: --mesh says it");
  const ColumnKind kind = part == MeshPart::node ? ColumnKind::text : ColumnKind::count;
  const Column by{std::string(name), part == MeshPart::stage ? "Stage" : std::string(name), kind};
  const auto is_of_ranks = [](const ReportTable& one) {
    return one.table.find_column("rank") && !one.table.find_column("stage");
  };
  // A table that has a row for each part already says the same.
  const bool has_parts = std::ranges::any_of(report.tables, [&](const ReportTable& one) {
    return one.table.find_column(name) && !one.table.find_column("rank");
  });
  bool any = has_parts;
  if (has_parts) std::erase_if(report.tables, is_of_ranks);
  for (ReportTable& table : report.tables) {
    const std::optional<std::size_t> column = table.table.find_column("rank");
    if (!is_of_ranks(table)) continue;
    any = true;
    if (table.title == "By rank") table.title = "By " + std::string(name);
    table.table = table.table.grouped(*column, by, [&](const Cell& rank) {
      const auto* const number = std::get_if<std::int64_t>(&rank);
      const auto found = number == nullptr ? parts.end() : parts.find(*number);
      return found == parts.end() ? Cell{} : found->second;
    });
  }
  if (!any)
    throw Error(fmt::format("--by {}", name),
                fmt::format("no table of {} has a row for each rank", report.command));
}

}  // namespace traceloom
