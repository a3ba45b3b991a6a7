#include "analysis/job/job_reports.h"
#include "analysis/mesh/mesh.h"
#include "analysis/mesh/pipeline.h"
#include "analysis/numbers.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

std::string sizes_json(const Mesh& mesh, std::int64_t chunks) {
  return json_object([&](JsonWriter& json) {
    json.member("tp", mesh.tensor);
    json.member("pp", mesh.stages);
    json.member("dp", mesh.data);
    json.member("ep", mesh.expert);
    json.member("cp", mesh.context);
    json.member("world", mesh.world);
    json.member("chunks", chunks > 0 ? std::optional(chunks) : std::nullopt);
    json.member("source", mesh.source);
    write_list(json, "missing", mesh.missing);
  });
}

std::string sizes_line(const Mesh& mesh, std::int64_t chunks) {
  std::string line = fmt::format("{}: tp {} x pp {} x dp {}",
                                 count_of(static_cast<std::uint64_t>(mesh.world), "rank"),
                                 mesh.tensor, mesh.stages, mesh.data);
  if (mesh.context > 1) line += fmt::format(" x cp {}", mesh.context);
  if (mesh.expert > 1) line += fmt::format(", ep {}", mesh.expert);
  if (chunks > 1) line += fmt::format(", {} model chunks a stage", chunks);
  return line + fmt::format(" (known from {}).", mesh.source);
}

// Groups of one axis and size.
struct GroupRow {
  Axis axis = Axis::other;
  std::string description;
  std::int64_t size = 0;
  std::int64_t groups = 0;
  std::int64_t count = 0;  // collectives or messages
  std::int64_t bytes = 0;
  std::int64_t transfers = 0;
  std::int64_t transfer_ns = 0;  // of all transfers

  void add_transfer(std::int64_t bytes_of_it, std::int64_t ns) {
    ++count;
    ++transfers;
    add_to(bytes, bytes_of_it);
    add_to(transfer_ns, ns);
  }
};

std::vector<GroupRow> group_rows(const Run& run, const Mesh& mesh) {
  using Key = std::tuple<Axis, std::string, std::int64_t>;
  const auto key_of = [](const JobGroup& group) {
    return Key{group.axis, group.description, static_cast<std::int64_t>(group.ranks.size())};
  };
  std::map<Key, GroupRow> rows;
  for (const JobGroup& group : mesh.groups) {
    if (group.ranks.size() < 2) continue;
    GroupRow& row = rows[key_of(group)];
    std::tie(row.axis, row.description, row.size) = key_of(group);
    ++row.groups;
  }
  const auto row_of = [&](const ProcessGroup& group) -> GroupRow* {
    const JobGroup* const found = mesh.group_of(group);
    const auto row = found == nullptr ? rows.end() : rows.find(key_of(*found));
    return row == rows.end() ? nullptr : &row->second;
  };
  const MatchedCollectives& found = match_collectives(run);
  for (const Collective& what : found.matched)
    if (GroupRow* const row = row_of(what.group)) row->add_transfer(what.bytes, what.latency_ns());
  for (const Message& message : found.messages)
    if (GroupRow* const row = row_of(message.group))
      row->add_transfer(message.bytes, message.transfer_ns);
  for (const Collective& what : found.single)
    if (GroupRow* const row = row_of(what.group); row != nullptr && !what.transfer_ns) ++row->count;
  std::vector<GroupRow> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

Table groups_table(const Run& run, const Mesh& mesh) {
  using enum ColumnKind;
  using enum Readers;
  using Row = GroupRow;
  const ColumnsOf<Row> columns{
      {"axis", "Axis", text, [](auto& of) { return to_string(of.axis); }},
      {"description", "Group is", text, some, text_of(&Row::description)},
      {"groups", "Groups", count, &Row::groups},
      {"size", "Ranks", count, &Row::size},
      {"count", "Count", count, &Row::count},
      {"bytes", "Bytes", bytes, [](auto& of) { return cell_if(of.bytes > 0, of.bytes); }},
      {"transfer_ns", "Transfer", duration,
       [](auto& of) {
         return cell_if(of.transfers > 0,
                        of.transfers > 0 ? of.transfer_ns / of.transfers : std::int64_t{0});
       }},
  };
  return make_table(group_rows(run, mesh), columns);
}

struct RankRow : MeshPlace {
  std::int64_t rank = 0;
  std::string node;
  bool recorded = true;
};

Table ranks_table(const Run& run, const Mesh& mesh) {
  const std::map<std::int64_t, std::string> nodes = find_nodes(run);
  const std::set<std::int64_t> missing(mesh.missing.begin(), mesh.missing.end());
  std::vector<RankRow> rows;
  for (const auto& [rank, place] : mesh.places) {
    const auto node = nodes.find(rank);
    rows.push_back({place, rank, node == nodes.end() ? "" : node->second, !missing.contains(rank)});
  }
  using enum ColumnKind;
  using enum Readers;
  using Row = RankRow;
  const auto if_split = [](std::int64_t size) { return size > 1 ? all : programs; };
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"tp", "tp", count, if_split(mesh.tensor), [](auto& of) { return of.tensor; }},
      {"cp", "cp", count, if_split(mesh.context), [](auto& of) { return of.context; }},
      {"ep", "ep", count, if_split(mesh.expert), [](auto& of) { return of.expert; }},
      {"dp", "dp", count, if_split(mesh.data), [](auto& of) { return of.data; }},
      {"stage", "Stage", count, if_split(mesh.stages), [](auto& of) { return of.stage; }},
      {"node", "Node", text, nodes.empty() ? programs : all, text_of(&Row::node)},
      {"recorded", "Recorded", flag, missing.empty() ? programs : all, &Row::recorded},
  };
  return make_table(rows, columns);
}

}  // namespace

Report mesh_report(const Run& run) {
  constexpr std::size_t kMostRanks = 64;  // shown to people
  const Mesh& mesh = find_mesh(run);
  Report report("mesh", run);
  const std::int64_t chunks = find_chunks(run, mesh);
  report.values.emplace_back("mesh", sizes_json(mesh, chunks));
  if (!mesh.source.empty()) report.headline.push_back(sizes_line(mesh, chunks));
  report.tables.push_back({"groups", "", groups_table(run, mesh)});
  ReportTable ranks{"ranks", "By rank", ranks_table(run, mesh)};
  ranks.most_for_people = kMostRanks;
  report.tables.push_back(std::move(ranks));
  if (mesh.source.empty())
    report.notes.emplace_back(
        "the traces do not show how the ranks share the work: --mesh says it (tp=2,pp=4)");
  note_mesh(mesh, report);
  return report;
}

void note_mesh(const Mesh& mesh, Report& report) {
  if (!mesh.missing.empty())
    report.notes.push_back(fmt::format(
        "no trace of {}: what is said of groups and stages is without {}",
        ranks_words(mesh.missing, RankStyle::sentence), mesh.missing.size() == 1 ? "it" : "them"));
  for (const std::string& doubt : mesh.doubts)
    report.notes.push_back(fmt::format("the mesh is doubtful: {}", doubt));
}

}  // namespace traceloom
