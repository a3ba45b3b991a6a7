#include "page/delta_figures.h"

#include "base/units.h"
#include "page/delta_rows.h"
#include "page/html/figures.h"
#include "page/html/html_table.h"
#include "page/page_parts.h"
#include "page/step_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

struct StepDelta {
  std::int64_t rank = 0;
  StepKey step;
  std::int64_t base_ns = 0;
  std::int64_t changed_ns = 0;

  std::int64_t size_ns() const { return std::abs(changed_ns - base_ns); }
};

// The steps that both sides have, those that changed most first.
std::vector<StepDelta> find_step_deltas(const std::vector<RankRoles>& base,
                                        const std::vector<RankRoles>& changed) {
  std::vector<StepDelta> deltas;
  for (const RankRoles& rank : base) {
    const auto other = std::find_if(changed.begin(), changed.end(),
                                    [&](const RankRoles& one) { return one.rank == rank.rank; });
    if (other == changed.end()) continue;
    std::map<StepKey, std::int64_t> lengths;
    for (const StepRoles& step : rank.steps)
      if (step.step.counted) lengths.emplace(key_of(step.step), step.total_ns);
    for (const StepRoles& step : other->steps)
      if (const auto found = lengths.find(key_of(step.step));
          step.step.counted && found != lengths.end())
        deltas.push_back({rank.rank, found->first, found->second, step.total_ns});
  }
  std::stable_sort(deltas.begin(), deltas.end(), [](const StepDelta& a, const StepDelta& b) {
    return a.size_ns() > b.size_ns();
  });
  return deltas;
}

Table table_of(const std::vector<StepDelta>& deltas) {
  const bool has_epochs = std::any_of(deltas.begin(), deltas.end(), [](const StepDelta& delta) {
    return delta.step.epoch != kNoId;
  });
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count}};
  if (has_epochs) columns.push_back({"epoch", "Epoch", ColumnKind::count});
  for (const Column& column : {Column{"step", "Step", ColumnKind::count},
                               Column{"base_total_ns", "Base", ColumnKind::duration},
                               Column{"new_total_ns", "New", ColumnKind::duration},
                               Column{"delta_total_ns", "Delta", ColumnKind::duration}})
    columns.push_back(column);
  Table table(std::move(columns));
  for (const StepDelta& delta : deltas) {
    std::vector<Cell> row{delta.rank};
    if (has_epochs) row.emplace_back(delta.step.epoch);
    for (const std::int64_t number :
         {delta.step.number, delta.base_ns, delta.changed_ns, delta.changed_ns - delta.base_ns})
      row.emplace_back(number);
    table.add_row(std::move(row));
  }
  return table;
}

// The mean step of one side, split into roles.
Bar bar_of(const RoleTimes& roles, std::string label, std::int64_t room_ns) {
  Bar bar{std::move(label), {}, {}};
  std::int64_t total_ns = 0;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const std::int64_t ns = roles[static_cast<Role>(i)];
    if (ns <= 0) continue;
    total_ns += ns;
    bar.parts.push_back(time_part(kRoleNames[i], kRoleNames[i], ns, room_ns));
  }
  bar.total = format_duration(total_ns);
  return bar;
}

}  // namespace

void write_delta_map(HtmlWriter& html, const ComparisonPage& page) {
  if (page.base.sections.empty() || page.changed.sections.empty()) return;
  html.element("h3", "How much longer each step is, by rank");
  html.element("p", fmt::format("{} against {}", page.changed.name, page.base.name),
               {{"class", "command"}});
  const auto [base, changed] =
      make_common_grids(page.base.roles, page.changed.roles, kMostSideCells);
  if (base.cells.empty()) {
    html.element("p", "The two captures have no rank and step in common.");
    return;
  }
  write_delta_grid(html, base, changed);
  const std::vector<StepDelta> deltas = find_step_deltas(page.base.roles, page.changed.roles);
  write_table(html, table_of(deltas),
              {.caption = "The steps that changed most: base, new and delta",
               .command = source_of(page.base).command("steps") + "; " +
                          source_of(page.changed).command("steps"),
               .source = "steps.rows",
               .most_rows = kMostTableRows});
}

void write_rank_bars(HtmlWriter& html, const ComparisonPage& page) {
  std::vector<RankDelta> ranks = page.found.ranks;
  if (ranks.empty()) return;
  constexpr std::size_t kMost = kMostBars / 2;
  html.element("h3", ranks.size() > kMost
                         ? fmt::format("The mean step on both sides, of the {} ranks of {} that "
                                       "changed most",
                                       kMost, ranks.size())
                         : "The mean step on both sides, by rank");
  write_command(html, source_without_run(page.arguments), "compare");
  if (ranks.size() > kMost) {
    std::stable_sort(ranks.begin(), ranks.end(), [](const RankDelta& a, const RankDelta& b) {
      return std::abs(a.delta_ns()) > std::abs(b.delta_ns());
    });
    ranks.resize(kMost);
  }
  std::int64_t room_ns = 1;
  for (const RankDelta& rank : ranks) room_ns = std::max({room_ns, rank.base_ns, rank.changed_ns});
  std::vector<Bar> bars;
  for (const RankDelta& rank : ranks) {
    bars.push_back(bar_of(rank.base_roles, fmt::format("rank {} base", rank.rank), room_ns));
    bars.push_back(bar_of(rank.changed_roles, fmt::format("rank {} new", rank.rank), room_ns));
  }
  std::vector<std::string_view> names;
  for (const Role role : roles_with_time(ranks)) names.push_back(role_name(role));
  write_legend(html, names);
  write_stacked_bars(html, "The mean step of each rank, on both sides", bars);
}

}  // namespace traceloom
