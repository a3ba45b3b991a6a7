#include "merge/passes/share_findings.h"

#include "merge/survey/survey_visitor.h"
#include "team/wire.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

std::string pack(const FileBlock& own, const SurveyedFiles& found) {
  WireWriter writer;
  writer(own, found.failed, found.left_out, found.facts.size());
  for (std::size_t i = own.begin; i < own.end; ++i) {
    writer(found.surveys[i]);
    if (!found.facts.empty()) writer(found.facts[i]);
  }
  return writer.take();
}

// Adds what pack() has packed, and returns of which files.
FileBlock unpack(std::string_view bytes, SurveyedFiles& found) {
  WireReader reader(bytes);
  FileBlock files;
  std::set<std::size_t> failed;
  std::vector<LeftOut> left_out;
  std::size_t facts = 0;
  reader(files, failed, left_out, facts);
  found.failed.merge(failed);
  std::ranges::move(left_out, std::back_inserter(found.left_out));
  for (std::size_t i = files.begin; i < files.end; ++i) {
    reader(found.surveys[i]);
    if (facts > 0) reader(found.facts[i]);
  }
  return files;
}

}  // namespace

void share_surveys(Team& team, const FileBlock& own, std::size_t most_tracks,
                   SurveyedFiles& found) {
  if (team.is_alone()) return;
  std::size_t tracks = 0;
  team.gather(team.is_first() ? std::string() : pack(own, found),
              [&](std::size_t rank, const std::string& bytes) {
                const FileBlock files = rank > 0 ? unpack(bytes, found) : own;
                for (std::size_t i = files.begin; i < files.end; ++i)
                  count_tracks(found.surveys[i], most_tracks, tracks);
              });
  const FileBlock all{0, found.surveys.size()};
  const std::string bytes = team.broadcast(team.is_first() ? pack(all, found) : std::string());
  if (team.is_first()) return;
  found.failed.clear();
  found.left_out.clear();
  unpack(bytes, found);
}

void share_selection(Team& team, SelectionVisitor& visitor) {
  if (team.is_alone()) return;
  team.gather(to_wire(visitor.part()), [&](std::size_t rank, const std::string& bytes) {
    if (rank > 0) visitor.add_part(from_wire<SelectionPart>(bytes));
  });
  SelectionPart part = broadcast(team, visitor.part());
  if (!team.is_first()) visitor.add_part(std::move(part));
}

std::vector<std::vector<std::uint64_t>> gather_lists(Team& team,
                                                     std::vector<std::vector<std::uint64_t>> own) {
  if (team.is_alone()) return own;
  std::vector<std::vector<std::uint64_t>> all;
  team.gather(to_wire(own), [&](std::size_t, const std::string& bytes) {
    for (auto& list : from_wire<std::vector<std::vector<std::uint64_t>>>(bytes))
      all.push_back(std::move(list));
  });
  return broadcast(team, std::move(all));
}

}  // namespace traceloom
