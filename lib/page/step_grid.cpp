#include "page/step_grid.h"

#include "analysis/numbers.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "page/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

using StepTimes = std::map<StepKey, std::int64_t>;

void raise(StepTimes& scores, const StepKey& key, std::int64_t ns) {
  std::int64_t& score = scores.emplace(key, ns).first->second;
  score = std::max(score, ns);
}

// The rows and columns of a grid, and where each rank and shown step is in it.
struct GridFrame {
  StepGrid grid;
  std::map<std::int64_t, std::size_t> rows;
  std::map<StepKey, std::size_t> columns;
};

// A column is the one of its steps that is furthest off by `scores`, which has all steps.
GridFrame make_frame(const std::vector<std::int64_t>& ranks, const StepTimes& scores, bool epochs,
                     std::size_t most_cells) {
  GridFrame frame;
  StepGrid& grid = frame.grid;
  if (ranks.empty() || scores.empty()) return frame;
  grid.ranks_a_row = bucket_size(ranks.size(), kMostGridRows);
  const std::size_t rows = (ranks.size() + grid.ranks_a_row - 1) / grid.ranks_a_row;
  grid.steps_a_column = bucket_size(scores.size(), std::min(kMostGridColumns, most_cells / rows));
  for (auto first = scores.begin(); first != scores.end();) {
    auto shown = first;
    auto last = first;
    auto next = first;
    for (std::size_t i = 0; i < grid.steps_a_column && next != scores.end(); ++i, ++next) {
      if (next->second > shown->second) shown = next;
      last = next;
    }
    frame.columns.emplace(shown->first, grid.steps.size());
    grid.keys.push_back(shown->first);
    grid.steps.push_back(step_label(shown->first, epochs));
    grid.columns.push_back(
        range_text(step_label(first->first, epochs), step_label(last->first, epochs)));
    first = next;
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

// The own time of each rank in each step, the step without waiting for others, and how far it is
// from the median of all ranks.
class OwnTimes {
 public:
  OwnTimes(const std::vector<RankRoles>& roles, const RankWaits& waits)
      : waits_(roles.size()), has_median_(waits.ranks.size() > 2) {
    for (const auto& [rank, place] : waits.numbers())
      for (std::size_t i = 0; i < waits.steps.size(); ++i)
        waits_[rank][waits.steps[i]] = waits.wait_ns[place][i];
    // Of two ranks none is the median.
    if (!has_median_) return;
    std::map<StepKey, std::vector<std::int64_t>> all;
    for (std::size_t i = 0; i < roles.size(); ++i)
      for (const StepRoles& step : roles[i].steps)
        if (step.step.counted) all[key_of(step.step)].push_back(own_ns(i, step));
    for (const auto& [key, list] : all) medians_[key] = percentile(list, 50);
  }
  // `rank` is its place in the roles. Where the waiting is not known, it is the step.
  std::int64_t own_ns(std::size_t rank, const StepRoles& step) const {
    const auto wait = waits_[rank].find(key_of(step.step));
    return wait == waits_[rank].end() ? step.total_ns
                                      : std::max<std::int64_t>(step.total_ns - wait->second, 0);
  }
  std::int64_t distance_ns(std::size_t rank, const StepRoles& step) const {
    const std::int64_t ns = own_ns(rank, step);
    return has_median_ ? std::abs(ns - medians_.at(key_of(step.step))) : ns;
  }
  std::vector<std::int64_t> medians(const std::vector<StepKey>& steps) const {
    std::vector<std::int64_t> found;
    for (const StepKey& key : steps)
      if (has_median_) found.push_back(medians_.at(key));
    return found;
  }

 private:
  std::vector<StepTimes> waits_;
  bool has_median_;
  StepTimes medians_;
};

// `own` and `distance` are ns of a rank, by its place in the roles, in a step.
template <typename Own, typename Distance>
StepGrid filled(const GridFrame& frame, const std::vector<RankRoles>& roles, Own own,
                Distance distance) {
  StepGrid grid = frame.grid;
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
      const std::int64_t distance_ns = distance(i, step);
      if (distance_ns <= furthest[cell]) continue;
      furthest[cell] = distance_ns;
      grid.cells[cell] = {step.total_ns, own(i, step), static_cast<std::size_t>(place),
                          step.exclusive};
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
  if (grid.ranks_a_row > 1)
    note = fmt::format("A cell is the one of {} ranks that is furthest from the median. ",
                       grid.ranks_a_row);
  if (grid.steps_a_column > 1)
    note += fmt::format("A column is the one of {} steps in which a rank is furthest {}. ",
                        grid.steps_a_column, grid.ranks.size() < 3 ? "out" : "from the median");
  return note + "A click shows the step in the timeline.";
}

std::string facts_json(const StepGrid& grid, const std::vector<Role>& roles, std::int64_t most_ns,
                       bool is_delta, std::optional<std::int64_t> named) {
  return json_object([&](JsonWriter& json) {
    if (named) json.member("named", *named);
    write_list(json, "rows", grid.rows);
    write_list(json, "ranks", grid.ranks);
    json.member("ranks_a_row", grid.ranks_a_row);
    write_list(json, "steps", grid.steps);
    if (grid.steps_a_column > 1) write_list(json, "columns", grid.columns);
    if (grid.is_estimated) json.member("is_estimated", true);
    if (grid.ranks_a_row > 1) write_list(json, "medians", grid.medians);
    json.member("row_noun", grid.ranks_a_row > 1 ? "ranks" : "rank");
    json.member("max_ns", most_ns);
    json.member("is_delta", is_delta);
    write_list(json, "roles", roles | std::views::transform(role_name));
    json.member("note", note_of(grid));
  });
}

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
  keep_largest(places, kMostWaiters, [&](std::size_t place) { return sums[place]; });
  std::ranges::sort(places);
  return places;
}

// Four levels of a colour, for the eye; the number stands in the cell.
int level_of(std::int64_t ns, std::int64_t most) {
  if (ns <= 0 || most <= 0) return 0;
  return 1 +
         static_cast<int>(std::min(3.0, 4 * static_cast<double>(ns) / static_cast<double>(most)));
}

}  // namespace

StepGrid make_step_grid(const std::vector<RankRoles>& roles, const RankWaits& waits,
                        std::size_t most_cells) {
  const OwnTimes own(roles, waits);
  const auto distance = [&](std::size_t rank, const StepRoles& step) {
    return own.distance_ns(rank, step);
  };
  StepTimes scores;
  for (std::size_t i = 0; i < roles.size(); ++i)
    for (const StepRoles& step : roles[i].steps)
      if (step.step.counted) raise(scores, key_of(step.step), distance(i, step));
  StepGrid grid = filled(
      make_frame(ranks_of(roles), scores, has_epochs(roles), most_cells), roles,
      [&](std::size_t rank, const StepRoles& step) { return own.own_ns(rank, step); }, distance);
  grid.medians = own.medians(grid.keys);
  grid.is_estimated = waits.kind == MeetingKind::barriers;
  return grid;
}

std::pair<StepGrid, StepGrid> make_common_grids(const std::vector<RankRoles>& base,
                                                const std::vector<RankRoles>& changed,
                                                const std::vector<StepKey>& shown,
                                                std::size_t most_cells) {
  // The lengths of the base, and then how much they changed, of the ranks and steps of both.
  std::map<std::pair<std::int64_t, StepKey>, std::int64_t> lengths;
  std::map<std::pair<std::int64_t, StepKey>, std::int64_t> changes;
  const std::set<StepKey> known(shown.begin(), shown.end());
  for (const RankRoles& rank : base)
    for (const StepRoles& step : rank.steps)
      if (step.step.counted && known.contains(key_of(step.step)))
        lengths[{rank.rank, key_of(step.step)}] = step.total_ns;
  StepTimes scores;
  std::set<std::int64_t> ranks;
  for (const RankRoles& rank : changed)
    for (const StepRoles& step : rank.steps) {
      const auto length = lengths.find({rank.rank, key_of(step.step)});
      if (!step.step.counted || length == lengths.end()) continue;
      const std::int64_t change = std::abs(step.total_ns - length->second);
      changes[length->first] = change;
      ranks.insert(rank.rank);
      raise(scores, key_of(step.step), change);
    }
  const GridFrame frame = make_frame({ranks.begin(), ranks.end()}, scores,
                                     has_epochs(base) || has_epochs(changed), most_cells);
  const auto side = [&](const std::vector<RankRoles>& roles) {
    return filled(
        frame, roles, [](std::size_t, const StepRoles& step) { return step.total_ns; },
        [&](std::size_t rank, const StepRoles& step) {
          const auto change = changes.find({roles[rank].rank, key_of(step.step)});
          return change == changes.end() ? -1 : change->second;
        });
  };
  return {side(base), side(changed)};
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
