#include "page/step_grid.h"

#include "output/json_writer.h"
#include "page/html/base64.h"
#include "page/page_limits.h"
#include "page/timeline/step_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace traceloom {
namespace {

std::size_t bucket_size(std::size_t count, std::size_t most) {
  return count == 0 ? 1 : (count + most - 1) / most;
}

std::string range_text(const std::string& first, const std::string& last) {
  return first == last ? first : first + "-" + last;
}

// The step of all ranks, ascending, and the place of each.
std::map<StepKey, std::size_t> places_of_steps(const std::vector<RankRoles>& roles) {
  std::map<StepKey, std::size_t> places;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) places.emplace(key_of(step.step), 0);
  std::size_t place = 0;
  for (auto& [key, number] : places) number = place++;
  return places;
}

// Roles with time, those with the most first, as many as there is room for.
std::vector<Role> roles_of(const StepGrid& grid) {
  RoleTimes sums;
  for (const GridCell& cell : grid.cells) sums.add(cell.roles);
  std::vector<Role> roles;
  for (std::size_t i = 0; i < kRoleCount; ++i)
    if (sums[static_cast<Role>(i)] > 0) roles.push_back(static_cast<Role>(i));
  std::stable_sort(roles.begin(), roles.end(), [&](Role a, Role b) { return sums[a] > sums[b]; });
  const std::size_t room = grid.cells.empty() ? 0 : kMostGridBytes / grid.cells.size();
  roles.resize(std::min(roles.size(), room > 2 ? room - 2 : 0));
  return roles;
}

std::string cell_bytes(const StepGrid& grid, const std::vector<Role>& roles, std::int64_t most_ns) {
  std::string bytes;
  bytes.reserve(grid.cells.size() * (2 + roles.size()));
  for (const GridCell& cell : grid.cells) {
    const double share = static_cast<double>(cell.total_ns) / static_cast<double>(most_ns);
    const auto value =
        static_cast<unsigned>(cell.total_ns < 0 ? 0 : 1 + std::lround(65534 * share));
    bytes += static_cast<char>(value & 255U);
    bytes += static_cast<char>(value >> 8U);
  }
  for (const Role role : roles)
    for (const GridCell& cell : grid.cells)
      bytes += static_cast<char>(cell.total_ns <= 0
                                     ? 0
                                     : std::lround(255 * static_cast<double>(cell.roles[role]) /
                                                   static_cast<double>(cell.total_ns)));
  return bytes;
}

std::string note_of(const StepGrid& grid) {
  std::string note;
  if (grid.ranks_a_row > 1 || grid.steps_a_column > 1)
    note = fmt::format("A cell is the slowest of {} ranks and {} steps. ", grid.ranks_a_row,
                       grid.steps_a_column);
  return note + "A click shows the step in the timeline.";
}

std::string facts_json(const StepGrid& grid, const std::vector<Role>& roles, std::int64_t most_ns) {
  std::string text;
  JsonWriter json(text);
  const auto list = [&](std::string_view key, const auto& values) {
    json.key(key);
    json.begin_array();
    for (const auto& value : values) json.value(value);
    json.end_array();
  };
  json.begin_object();
  list("rows", grid.rows);
  list("first_ranks", grid.first_ranks);
  list("columns", grid.columns);
  list("first_steps", grid.first_steps);
  json.key("row_noun");
  json.value(grid.ranks_a_row > 1 ? "ranks" : "rank");
  json.key("max_ns");
  json.value(most_ns);
  json.key("roles");
  json.begin_array();
  for (const Role role : roles) json.value(role_name(role));
  json.end_array();
  json.key("note");
  json.value(note_of(grid));
  json.end_object();
  return text;
}

void write_choice(HtmlWriter& html, const std::vector<Role>& roles) {
  html.open("div", {{"class", "tools"}});
  html.open("label");
  html.text("Colour by ");
  html.open("select", {{"id", "heat-role"}});
  html.element("option", "step time", {{"value", "-1"}});
  for (std::size_t i = 0; i < roles.size(); ++i)
    html.element("option", role_name(roles[i]), {{"value", std::to_string(i)}});
  html.close();
  html.close();
  html.close();
}

}  // namespace

StepGrid make_step_grid(const std::vector<RankRoles>& roles) {
  StepGrid grid;
  const std::map<StepKey, std::size_t> places = places_of_steps(roles);
  if (places.empty()) return grid;
  grid.ranks_a_row = bucket_size(roles.size(), kMostGridRows);
  grid.steps_a_column = bucket_size(places.size(), kMostGridColumns);
  const bool epochs = has_epochs(roles);
  std::vector<std::string> labels;
  labels.reserve(places.size());
  for (const auto& [key, place] : places) labels.push_back(step_label(key, epochs));
  for (std::size_t i = 0; i < labels.size(); i += grid.steps_a_column) {
    const std::size_t last = std::min(i + grid.steps_a_column, labels.size()) - 1;
    grid.columns.push_back(range_text(labels[i], labels[last]));
    grid.first_steps.push_back(labels[i]);
  }
  for (std::size_t i = 0; i < roles.size(); i += grid.ranks_a_row) {
    const std::size_t last = std::min(i + grid.ranks_a_row, roles.size()) - 1;
    grid.rows.push_back(
        range_text(std::to_string(roles[i].rank), std::to_string(roles[last].rank)));
    grid.first_ranks.push_back(roles[i].rank);
  }
  grid.cells.resize(grid.rows.size() * grid.columns.size());
  for (std::size_t rank = 0; rank < roles.size(); ++rank)
    for (const StepRoles& step : roles[rank].steps) {
      if (!step.step.counted) continue;
      const std::size_t column = places.at(key_of(step.step)) / grid.steps_a_column;
      GridCell& cell = grid.cells[rank / grid.ranks_a_row * grid.columns.size() + column];
      if (step.total_ns > cell.total_ns) cell = {step.total_ns, step.exclusive};
    }
  return grid;
}

void write_step_grid(HtmlWriter& html, const StepGrid& grid) {
  std::int64_t most_ns = 1;
  for (const GridCell& cell : grid.cells) most_ns = std::max(most_ns, cell.total_ns);
  const std::vector<Role> roles = roles_of(grid);
  html.element("h3", "Length of each step, by rank");
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  write_choice(html, roles);
  html.element("canvas", "",
               {{"id", "heat"},
                {"tabindex", "0"},
                {"role", "img"},
                {"aria-label",
                 fmt::format("Heat map of {} ranks and {} steps; arrow keys move, Enter shows the "
                             "step in the timeline. The numbers are in the tables of the section "
                             "Time.",
                             grid.rows.size() * grid.ranks_a_row,
                             grid.columns.size() * grid.steps_a_column)}});
  html.element("p", "", {{"id", "heat-status"}, {"class", "status"}, {"role", "status"}});
  html.close();
  html.data("grid", "application/json", facts_json(grid, roles, most_ns));
  html.data("grid-data", "text/plain", base64(cell_bytes(grid, roles, most_ns)));
}

}  // namespace traceloom
