#include "page/step_grid.h"

#include "analysis/numbers.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "page/html/html_writer.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>

namespace traceloom {
namespace {

std::size_t bucket_size(std::size_t count, std::size_t most) {
  return count == 0 ? 1 : (count + most - 1) / most;
}

std::string range_text(const std::string& first, const std::string& last) {
  return first == last ? first : first + "-" + last;
}

using StepSet = std::set<StepKey>;

StepSet counted_steps(const std::vector<RankRoles>& roles) {
  StepSet steps;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) steps.insert(key_of(step.step));
  return steps;
}

// The rows and columns of a grid, and where each rank and step is in it.
struct GridFrame {
  StepGrid grid;
  std::map<std::int64_t, std::size_t> rows;
  std::map<StepKey, std::size_t> columns;
};

GridFrame make_frame(const std::vector<std::int64_t>& ranks, const StepSet& steps, bool epochs,
                     std::size_t most_cells) {
  GridFrame frame;
  StepGrid& grid = frame.grid;
  if (ranks.empty() || steps.empty()) return frame;
  grid.ranks_a_row = bucket_size(ranks.size(), kMostGridRows);
  const std::size_t rows = (ranks.size() + grid.ranks_a_row - 1) / grid.ranks_a_row;
  grid.steps_a_column = bucket_size(steps.size(), std::min(kMostGridColumns, most_cells / rows));
  std::vector<std::string> labels;
  labels.reserve(steps.size());
  for (const StepKey& key : steps) {
    frame.columns.emplace(key, labels.size() / grid.steps_a_column);
    labels.push_back(step_label(key, epochs));
  }
  for (std::size_t i = 0; i < labels.size(); i += grid.steps_a_column) {
    const std::size_t last = std::min(i + grid.steps_a_column, labels.size()) - 1;
    grid.columns.push_back(range_text(labels[i], labels[last]));
    grid.first_steps.push_back(labels[i]);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    frame.rows.emplace(ranks[i], i / grid.ranks_a_row);
    if (i % grid.ranks_a_row != 0) continue;
    const std::size_t last = std::min(i + grid.ranks_a_row, ranks.size()) - 1;
    grid.rows.push_back(range_text(std::to_string(ranks[i]), std::to_string(ranks[last])));
  }
  grid.ranks = ranks;
  grid.cells.resize(grid.rows.size() * grid.columns.size());
  return frame;
}

// The waiting of a rank for others in each step; empty where it is not known.
using StepTimes = std::map<StepKey, std::int64_t>;

std::vector<StepTimes> waits_of(const RankWaits& waits, std::size_t ranks) {
  std::vector<StepTimes> times(ranks);
  for (const auto& [rank, place] : waits.numbers())
    for (std::size_t i = 0; i < waits.steps.size(); ++i)
      times[rank][waits.steps[i]] = waits.wait_ns[place][i];
  return times;
}

std::int64_t own_of(const StepRoles& step, const StepTimes& waits) {
  const auto wait = waits.find(key_of(step.step));
  return wait == waits.end() ? step.total_ns
                             : std::max<std::int64_t>(step.total_ns - wait->second, 0);
}

// The median of all ranks in each step.
StepTimes median_own(const std::vector<RankRoles>& roles, const std::vector<StepTimes>& waits) {
  std::map<StepKey, std::vector<std::int64_t>> all;
  for (std::size_t i = 0; i < roles.size(); ++i)
    for (const StepRoles& step : roles[i].steps)
      if (step.step.counted) all[key_of(step.step)].push_back(own_of(step, waits[i]));
  StepTimes medians;
  for (const auto& [key, list] : all) medians[key] = percentile(list, 50);
  return medians;
}

StepGrid filled(const GridFrame& frame, const std::vector<RankRoles>& roles,
                const RankWaits& all_waits = {}) {
  StepGrid grid = frame.grid;
  const std::vector<StepTimes> waits = waits_of(all_waits, roles.size());
  // Of two ranks none is the median.
  const bool has_median = all_waits.ranks.size() > 2;
  const StepTimes medians = has_median ? median_own(roles, waits) : StepTimes();
  std::vector<std::int64_t> furthest(grid.cells.size(), -1);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const auto row = frame.rows.find(roles[i].rank);
    if (row == frame.rows.end()) continue;
    const auto first = static_cast<std::ptrdiff_t>(row->second * grid.ranks_a_row);
    const auto place = std::find(grid.ranks.begin() + first, grid.ranks.end(), roles[i].rank) -
                       grid.ranks.begin() - first;
    for (const StepRoles& step : roles[i].steps) {
      const auto column = frame.columns.find(key_of(step.step));
      if (!step.step.counted || column == frame.columns.end()) continue;
      const std::size_t cell = row->second * grid.columns.size() + column->second;
      const std::int64_t own_ns = own_of(step, waits[i]);
      const std::int64_t distance =
          has_median ? std::abs(own_ns - medians.at(column->first)) : own_ns;
      if (distance <= furthest[cell]) continue;
      furthest[cell] = distance;
      grid.cells[cell] = {step.total_ns, own_ns, static_cast<std::size_t>(place), step.exclusive};
    }
  }
  return grid;
}

std::vector<std::int64_t> ranks_of(const std::vector<RankRoles>& roles) {
  std::vector<std::int64_t> ranks;
  ranks.reserve(roles.size());
  for (const RankRoles& rank : roles) ranks.push_back(rank.rank);
  return ranks;
}

// Roles with time, those with the most first, as many as there is room for.
std::vector<Role> roles_of(const StepGrid& grid, std::size_t most_bytes) {
  RoleTimes sums;
  for (const GridCell& cell : grid.cells) sums.add(cell.roles);
  std::vector<Role> roles;
  for (const Role role : kRoles)
    if (sums[role] > 0) roles.push_back(role);
  std::stable_sort(roles.begin(), roles.end(), [&](Role a, Role b) { return sums[a] > sums[b]; });
  const std::size_t room = grid.cells.empty() ? 0 : most_bytes / grid.cells.size();
  roles.resize(std::min(roles.size(), room > 5 ? room - 5 : 0));
  return roles;
}

// The lower byte comes first.
void append_number(std::string& bytes, unsigned number) {
  bytes += static_cast<char>(number & 255U);
  bytes += static_cast<char>(number >> 8U);
}

std::string cell_bytes(const StepGrid& grid, const std::vector<Role>& roles, std::int64_t most_ns) {
  std::string bytes;
  bytes.reserve(grid.cells.size() * (5 + roles.size()));
  for (const auto member : {&GridCell::total_ns, &GridCell::own_ns})
    for (const GridCell& cell : grid.cells) {
      const double share = static_cast<double>(cell.*member) / static_cast<double>(most_ns);
      append_number(bytes,
                    static_cast<unsigned>(cell.total_ns < 0 ? 0 : 1 + std::lround(65534 * share)));
    }
  for (const GridCell& cell : grid.cells)
    bytes += static_cast<char>(std::min<std::size_t>(cell.place, 255));
  for (const Role role : roles)
    for (const GridCell& cell : grid.cells)
      bytes += static_cast<char>(cell.total_ns <= 0
                                     ? 0
                                     : std::lround(255 * static_cast<double>(cell.roles[role]) /
                                                   static_cast<double>(cell.total_ns)));
  return bytes;
}

// Empty if a side does not have the step.
std::optional<std::int64_t> delta_of(const GridCell& base, const GridCell& changed) {
  if (base.total_ns < 0 || changed.total_ns < 0) return std::nullopt;
  return changed.total_ns - base.total_ns;
}

std::string delta_bytes(const std::vector<std::optional<std::int64_t>>& deltas,
                        std::int64_t most_ns) {
  constexpr std::int16_t kNone = std::numeric_limits<std::int16_t>::min();
  std::string bytes;
  bytes.reserve(2 * deltas.size());
  for (const std::optional<std::int64_t>& delta : deltas)
    append_number(
        bytes, static_cast<std::uint16_t>(delta ? std::lround(32767 * static_cast<double>(*delta) /
                                                              static_cast<double>(most_ns))
                                                : kNone));
  return bytes;
}

std::string note_of(const StepGrid& grid) {
  std::string note;
  if (grid.ranks_a_row > 1 || grid.steps_a_column > 1)
    note = fmt::format("A cell is one of {} ranks and {} steps, the {}. ", grid.ranks_a_row,
                       grid.steps_a_column,
                       grid.ranks.size() < 3 ? "longest" : "furthest from the median");
  return note + (grid.steps_a_column > 1 ? "A click shows the first of the steps in the timeline."
                                         : "A click shows the step in the timeline.");
}

std::string facts_json(const StepGrid& grid, const std::vector<Role>& roles, std::int64_t most_ns,
                       bool is_delta, std::optional<std::int64_t> named) {
  return json_object([&](JsonWriter& json) {
    if (named) json.member("named", *named);
    write_list(json, "rows", grid.rows);
    write_list(json, "ranks", grid.ranks);
    json.member("ranks_a_row", grid.ranks_a_row);
    write_list(json, "columns", grid.columns);
    write_list(json, "first_steps", grid.first_steps);
    json.member("row_noun", grid.ranks_a_row > 1 ? "ranks" : "rank");
    json.member("max_ns", most_ns);
    json.member("is_delta", is_delta);
    write_list(json, "roles", roles | std::views::transform(role_name));
    json.member("note", note_of(grid));
  });
}

}  // namespace

StepGrid make_step_grid(const std::vector<RankRoles>& roles, const RankWaits& waits,
                        std::size_t most_cells) {
  return filled(make_frame(ranks_of(roles), counted_steps(roles), has_epochs(roles), most_cells),
                roles, waits);
}

std::pair<StepGrid, StepGrid> make_common_grids(const std::vector<RankRoles>& base,
                                                const std::vector<RankRoles>& changed,
                                                std::size_t most_cells) {
  const std::vector<std::int64_t> some = ranks_of(base);
  const std::vector<std::int64_t> others = ranks_of(changed);
  std::vector<std::int64_t> ranks;
  std::set_intersection(some.begin(), some.end(), others.begin(), others.end(),
                        std::back_inserter(ranks));
  StepSet steps = counted_steps(base);
  const StepSet other_steps = counted_steps(changed);
  std::erase_if(steps, [&](const StepKey& key) { return !other_steps.contains(key); });
  const GridFrame frame =
      make_frame(ranks, steps, has_epochs(base) || has_epochs(changed), most_cells);
  return {filled(frame, base), filled(frame, changed)};
}

std::optional<std::int64_t> named_rank(const Verdict& verdict) {
  if (verdict.rank) return verdict.rank;
  constexpr std::string_view kWord = "rank ";
  for (const std::string& line : verdict.evidence)
    for (std::size_t at = line.find(kWord); at != std::string::npos;
         at = line.find(kWord, at + 1)) {
      std::int64_t rank = 0;
      const char* const begin = line.data() + at + kWord.size();
      if (std::from_chars(begin, line.data() + line.size(), rank).ptr != begin) return rank;
    }
  return std::nullopt;
}

void write_step_grid(HtmlWriter& html, const PageSource& source, const StepGrid& grid,
                     std::optional<std::int64_t> named) {
  std::int64_t most_ns = 1;
  for (const GridCell& cell : grid.cells) most_ns = std::max(most_ns, cell.total_ns);
  const std::vector<Role> roles = roles_of(grid, source.room(kMostGridBytes));
  html.element("h3", "Each step of each rank");
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  std::vector<std::pair<std::string, std::string_view>> choices{
      {"-2", "own time: the step without waiting for ranks"}, {"-1", "step time"}};
  for (std::size_t i = 0; i < roles.size(); ++i)
    choices.emplace_back(std::to_string(i), role_name(roles[i]));
  write_choice(html, "Colour by ", source.id("heat-role"), choices);
  write_canvas(
      html, {source.id("heat"), source.id("heat-status"), "heat-map", source.side,
             fmt::format(
                 "Heat map of {} ranks and {} steps; arrow keys move, Enter shows the step in "
                 "the timeline. The numbers are in the tables of the section Time.",
                 grid.rows.size() * grid.ranks_a_row, grid.columns.size() * grid.steps_a_column)});
  html.close();
  html.data(source.id("grid"), "application/json", facts_json(grid, roles, most_ns, false, named));
  html.data(source.id("grid-data"), "text/plain", base64(cell_bytes(grid, roles, most_ns)));
}

void write_delta_grid(HtmlWriter& html, const StepGrid& base, const StepGrid& changed) {
  std::vector<std::optional<std::int64_t>> deltas;
  deltas.reserve(base.cells.size());
  std::int64_t most_ns = 1;
  for (std::size_t i = 0; i < base.cells.size(); ++i) {
    deltas.push_back(delta_of(base.cells[i], changed.cells[i]));
    most_ns = std::max(most_ns, std::abs(deltas.back().value_or(0)));
  }
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  write_canvas(html,
               {"delta-heat", "delta-heat-status", "heat-map", "delta",
                fmt::format("Heat map of how much longer each step of the new side is, of {} ranks "
                            "and {} steps; arrow keys move, Enter shows the step in the timeline. "
                            "The numbers are in the table below.",
                            base.rows.size() * base.ranks_a_row,
                            base.columns.size() * base.steps_a_column)});
  html.close();
  html.data("delta-grid", "application/json", facts_json(base, {}, most_ns, true, std::nullopt));
  html.data("delta-grid-data", "text/plain", base64(delta_bytes(deltas, most_ns)));
}

namespace {

// Calls use(rank, late, ns) for each step in which one waited and the other came last.
template <typename Use>
void for_each_wait(const RankWaits& waits, Use use) {
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for (std::size_t step = 0; step < waits.steps.size(); ++step)
      if (waits.critical[step] != rank)
        use(rank, std::size_t{waits.critical[step]}, waits.wait_ns[rank][step]);
}

// The places with the largest sums, ascending by place.
std::vector<std::size_t> largest(const std::vector<std::int64_t>& sums) {
  std::vector<std::size_t> places(sums.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  places.resize(std::min(places.size(), kMostWaiters));
  std::sort(places.begin(), places.end());
  return places;
}

// Four levels of a colour, for the eye; the number stands in the cell.
int level_of(std::int64_t ns, std::int64_t most) {
  if (ns <= 0 || most <= 0) return 0;
  return 1 +
         static_cast<int>(std::min(3.0, 4 * static_cast<double>(ns) / static_cast<double>(most)));
}

}  // namespace

void write_wait_matrix(HtmlWriter& html, const PageRun& page) {
  const RankWaits& waits = page.waits;
  if (waits.ranks.size() < 2 || waits.steps.empty()) return;
  std::vector<std::int64_t> waiting(waits.ranks.size(), 0);
  std::vector<std::int64_t> waited_for(waits.ranks.size(), 0);
  for_each_wait(waits, [&](std::size_t rank, std::size_t late, std::int64_t ns) {
    add_to(waiting[rank], ns);
    add_to(waited_for[late], ns);
  });
  const std::vector<std::size_t> rows = largest(waiting);
  const std::vector<std::size_t> columns = largest(waited_for);
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> sums;
  for (const std::size_t rank : rows)
    for (const std::size_t late : columns) sums[{rank, late}] = 0;
  std::int64_t most = 0;
  for_each_wait(waits, [&](std::size_t rank, std::size_t late, std::int64_t ns) {
    const auto sum = sums.find({rank, late});
    if (sum == sums.end()) return;
    add_to(sum->second, ns);
    most = std::max(most, sum->second);
  });
  if (most == 0) return;
  const auto steps = static_cast<std::int64_t>(waits.steps.size());
  const auto number = [&](std::size_t place) { return page.run.ranks[waits.ranks[place]].rank; };
  html.element("h3", "Who waits for whom, in a mean step");
  html.element("p",
               "A row waits for the rank of the column: in the steps in which that rank came last.",
               {{"class", "command"}});
  html.open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", "Who waits for whom"}});
  html.open("table", {{"class", "heat"}, {"id", page.id("waits")}});
  html.raw("<thead><tr>");
  html.element("th", "Rank", {{"scope", "col"}});
  for (const std::size_t late : columns)
    html.element("th", fmt::format("for {}", number(late)), {{"scope", "col"}});
  html.raw("</thead><tbody>\n");
  for (const std::size_t rank : rows) {
    html.raw("<tr>");
    html.element("th", std::to_string(number(rank)), {{"scope", "row"}});
    for (const std::size_t late : columns) {
      const std::int64_t ns = sums.at({rank, late});
      html.raw(fmt::format("<td class=h{} data-v={}>{}", level_of(ns, most), ns / steps,
                           rank == late ? "" : format_duration(ns / steps)));
    }
    html.line();
  }
  html.raw("</tbody>");
  html.close();
  html.close_line();
}

}  // namespace traceloom
