// Where the time goes: roles by rank and by step, and the wait for data.
#include "analysis/reports/dataloader_report.h"
#include "analysis/reports/steps_report.h"
#include "base/units.h"
#include "page/html/figures.h"
#include "page/sections.h"
#include "page/timeline/step_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace traceloom {
namespace {

std::vector<std::string_view> roles_with_time(const std::vector<StepRoles>& steps) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kRoleCount; ++i)
    if (std::any_of(steps.begin(), steps.end(), [&](const StepRoles& step) {
          return step.exclusive[static_cast<Role>(i)] > 0;
        }))
      names.push_back(kRoleNames[i]);
  return names;
}

// The parts of a bar whose whole width is `room_ns`.
std::vector<BarPart> parts_of(const StepRoles& step, std::int64_t room_ns) {
  std::vector<BarPart> parts;
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const std::int64_t ns = step.exclusive[static_cast<Role>(i)];
    if (ns > 0)
      parts.push_back(
          {kRoleNames[i], static_cast<double>(ns) / static_cast<double>(room_ns),
           fmt::format("{} {} ({:.1f} %)", kRoleNames[i], format_duration(ns),
                       100 * static_cast<double>(ns) /
                           static_cast<double>(std::max<std::int64_t>(step.total_ns, 1)))});
  }
  return parts;
}

std::int64_t longest_ns(const std::vector<StepRoles>& steps) {
  std::int64_t most = 1;
  for (const StepRoles& step : steps) most = std::max(most, step.total_ns);
  return most;
}

void write_ranks(HtmlWriter& html, const PageSource& source, const std::vector<RankRoles>& roles) {
  std::vector<StepRoles> means;
  std::vector<std::int64_t> ranks;
  for (const RankRoles& rank : roles) {
    StepSum sum;
    sum.add_counted(rank.steps);
    if (sum.count() == 0) continue;
    means.push_back(sum.mean());
    ranks.push_back(rank.rank);
  }
  if (means.empty()) return;
  std::vector<std::size_t> order(means.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t most = source.room(kMostBars);
  const bool is_cut = order.size() > most;
  if (is_cut) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return means[a].total_ns > means[b].total_ns;
    });
    order.resize(most);
  }
  std::vector<Bar> bars;
  bars.reserve(order.size());
  for (const std::size_t i : order)
    bars.push_back({fmt::format("rank {}", ranks[i]), format_duration(means[i].total_ns),
                    parts_of(means[i], longest_ns(means))});
  html.element("h3",
               is_cut ? fmt::format("The mean step, of the {} ranks of {} on which it is longest",
                                    most, ranks.size())
                      : "The mean step, by rank");
  write_command(html, source, "steps");
  write_legend(html, roles_with_time(means));
  write_stacked_bars(html, "The mean step of each rank, split into roles", bars);
}

struct StepColumn {
  StepSum sum;
  std::int64_t loader_ns = 0;  // the longest exposed wait of a rank
};

// The mean over ranks of each step; neighbours share a column if there are many.
void write_steps(HtmlWriter& html, const PageSource& source, const std::vector<RankRoles>& roles) {
  std::map<StepKey, StepColumn> steps;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps) {
      if (!step.step.counted) continue;
      StepColumn& column = steps[key_of(step.step)];
      column.sum.add(step);
      column.loader_ns = std::max(column.loader_ns, step.exclusive[Role::dataloader]);
    }
  if (steps.size() < 2) return;
  const std::size_t a_column = (steps.size() + kMostColumns - 1) / kMostColumns;
  const bool epochs = has_epochs(roles);
  std::vector<std::string> labels;
  std::vector<StepRoles> means;
  std::vector<std::int64_t> loader;
  std::size_t i = 0;
  for (const auto& [key, column] : steps) {
    const StepRoles mean = column.sum.mean();
    if (i++ % a_column == 0) {
      labels.push_back(step_label(key, epochs));
      means.push_back(mean);
      loader.push_back(column.loader_ns);
      continue;
    }
    if (mean.total_ns > means.back().total_ns) means.back() = mean;
    loader.back() = std::max(loader.back(), column.loader_ns);
  }
  const std::int64_t room_ns = longest_ns(means);
  std::vector<Bar> bars;
  std::vector<Bar> waits;
  const std::int64_t most_wait_ns =
      std::max<std::int64_t>(*std::max_element(loader.begin(), loader.end()), 1);
  for (std::size_t k = 0; k < means.size(); ++k) {
    std::vector<BarPart> parts = parts_of(means[k], room_ns);
    for (BarPart& part : parts)
      part.words = fmt::format("step {}: {} of {}", labels[k], part.words,
                               format_duration(means[k].total_ns));
    bars.push_back({labels[k], format_duration(means[k].total_ns), std::move(parts)});
    waits.push_back(
        {labels[k],
         format_duration(loader[k]),
         {{"dataloader", static_cast<double>(loader[k]) / static_cast<double>(most_wait_ns),
           fmt::format("step {}: {}", labels[k], format_duration(loader[k]))}}});
  }
  const std::string last = fmt::format("step {}", labels.back());
  html.element("h3", a_column > 1 ? fmt::format("Each step, the mean of all ranks; a column is the "
                                                "longest of {} steps",
                                                a_column)
                                  : "Each step, the mean of all ranks");
  html.element("p", fmt::format("Full height: {}.", format_duration(room_ns)),
               {{"class", "command"}});
  write_columns(html,
                fmt::format("{} steps, the longest {}", steps.size(), format_duration(room_ns)),
                bars, fmt::format("step {}", labels.front()), last);
  if (most_wait_ns <= 1) return;
  html.element("h3", "Wait for data in each step, of the rank that waits longest");
  write_command(html, source, "dataloader");
  html.element("p", fmt::format("Full height: {}.", format_duration(most_wait_ns)),
               {{"class", "command"}});
  write_columns(html, fmt::format("Wait for data, at most {}", format_duration(most_wait_ns)),
                waits, fmt::format("step {}", labels.front()), last);
}

// The first table of `steps`, longest steps first if not all have room.
Report steps_for_page(const PageSource& source) {
  Report report = steps_report(source.run, {});
  Table& rows = report.tables.front().table;
  if (rows.rows().size() > source.room(kMostTableRows)) rows.sort_by("total_ns");
  return report;
}

}  // namespace

void write_time_section(HtmlWriter& html, const PageSource& source, const PageFacts& facts) {
  write_ranks(html, source, facts.roles);
  write_steps(html, source, facts.roles);
  write_tables(html, source, steps_for_page(source), {.command = "steps", .caption = "Steps"});
  write_tables(html, source, dataloader_report(source.run),
               {.command = "dataloader", .caption = "Wait for data"});
}

}  // namespace traceloom
