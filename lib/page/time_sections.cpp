#include "analysis/numbers.h"
#include "analysis/reports/bottleneck_report.h"
#include "analysis/reports/comm_report.h"
#include "analysis/reports/dataloader_report.h"
#include "analysis/reports/steps_report.h"
#include "analysis/reports/stragglers_report.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "base/units.h"
#include "clock/alignment_words.h"
#include "page/html/figures.h"
#include "page/sections.h"
#include "page/step_grid.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace traceloom {
namespace {

void write_list(HtmlWriter& html, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  html.element("h3", title);
  html.open("ul");
  for (const std::string& line : lines) html.element("li", line);
  html.close();
}

// Advice that several limits share is written once.
std::vector<std::string> advice_lines(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const Advice& advice : verdict.advice) {
    std::string line = advice.text;
    if (advice.share.of_ns > 0)
      line += fmt::format(" ({}, {})", percent_text(advice.share), to_string(advice.status));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

// Returns what the limit costs a step, in time. A share is a sum over steps, a delay that of a mean
// step.
std::string cost_of(const Verdict& verdict) {
  const StepShare& cost = verdict.cost(verdict.kind);
  const bool is_delay = verdict.is_delay(verdict.kind);
  const std::int64_t steps = is_delay ? 1 : static_cast<std::int64_t>(cost.of.steps);
  if (verdict.kind == Limit::inconclusive || cost.ns <= 0 || steps == 0) return "";
  return fmt::format("{} {} of {}, which takes {}.", is_delay ? "The others wait" : "It takes",
                     format_duration(cost.ns / steps), cost.of.text(),
                     format_duration(cost.of_ns / steps));
}

void write_verdict(HtmlWriter& html, const PageSource& source, const Verdict& verdict) {
  html.open("div", {{"class", fmt::format("verdict {}", limit_name(verdict.kind))},
                    {"id", source.id("verdict")},
                    {"data-kind", limit_name(verdict.kind)}});
  html.element("p", verdict_headline(verdict), {{"class", "lead"}});
  if (const std::string cost = cost_of(verdict); !cost.empty()) html.element("p", cost);
  write_list(html, "Why", verdict.evidence);
  write_list(html, "What to do", advice_lines(verdict));
  write_command(html, source, "bottleneck");
  html.close();
  html.line();
}

void write_chip(HtmlWriter& html, std::string_view name, std::string_view value,
                bool is_warning = false) {
  if (is_warning)
    html.open("li", {{"class", "warn"}});
  else
    html.open("li");
  html.element("b", name);
  html.text(value);
  html.close();
}

std::string steps_text(const std::vector<std::int64_t>& lengths) {
  std::int64_t sum = 0;
  for (const std::int64_t ns : lengths) add_to(sum, ns);
  return fmt::format(
      "{} (median {}, p99 {})", format_duration(sum / static_cast<std::int64_t>(lengths.size())),
      format_duration(percentile(lengths, 50)), format_duration(percentile(lengths, 99)));
}

std::string devices_text(const Run& run) {
  std::set<std::string> devices;
  for (const RunFile& file : run.files) devices.insert(file.devices.begin(), file.devices.end());
  if (!devices.empty()) return fmt::format("{}", fmt::join(devices, ", "));
  const bool has_any = std::any_of(run.ranks.begin(), run.ranks.end(),
                                   [](const RankEvents& rank) { return rank.has_devices(); });
  return has_any ? "not named" : "none in these traces";
}

std::string clocks_text(const Run& run) {
  if (run.ranks.size() < 2) return "one rank: its own";
  if (!run.common_clock) return "ranks cannot be compared";
  std::set<std::string_view> methods;
  for (const RunFile& file : run.files)
    if (file.error.empty() && !file.is_repeat) methods.insert(to_string(file.clock));
  return fmt::format("by {}", fmt::join(methods, ", "));
}

void write_chips(HtmlWriter& html, const Run& run, const std::vector<RankRoles>& roles) {
  std::uint64_t events = 0;
  std::uint64_t problems = 0;
  std::int64_t world = 0;
  for (const RunFile& file : run.files) {
    events += file.events;
    world = std::max(world, file.world_size);
    for (const Problem kind : file.problems.kinds())
      if (describe(kind).severity != Severity::info) problems += file.problems.count(kind);
  }
  const auto ranks = static_cast<std::int64_t>(run.ranks.size());
  html.open("ul", {{"class", "chips"}});
  write_chip(html, "Ranks",
             world > ranks ? fmt::format("{} of {}", ranks, world) : std::to_string(ranks),
             world > ranks);
  std::vector<RankRoles> main = roles;
  keep_phase(main, main_phase(main));
  const std::vector<std::int64_t> lengths = lengths_ns(longest_steps(main));
  write_chip(html, "Steps", format_count(lengths.size()));
  if (!lengths.empty()) write_chip(html, "Mean step, on its slowest rank", steps_text(lengths));
  write_chip(html, "Devices", devices_text(run));
  write_chip(html, "Clocks", clocks_text(run), run.ranks.size() > 1 && !run.common_clock);
  write_chip(html, "Events", format_count(events));
  write_chip(html, "Repaired or left out", problems == 0 ? "nothing" : format_count(problems),
             problems > 0);
  html.close();
  html.line();
}

void write_others(HtmlWriter& html, const Run& run) {
  std::vector<std::string> notes;
  const auto add = [&](std::int64_t rank, std::size_t count, std::string_view what) {
    if (count > 0) notes.push_back(fmt::format("rank {}: {} {}", rank, format_count(count), what));
  };
  for (const RankEvents& rank : run.ranks) {
    add(rank.rank, rank.others.devices,
        "devices, those with the least work, are shown as device -1");
    add(rank.rank, rank.others.streams, "streams, those with the least work, are shown as one");
    add(rank.rank, rank.others.counters, "counters, those with the fewest values, are left out");
  }
  if (run.labels.has_others())
    notes.push_back(fmt::format("names after the first {} are shown as one, (other names)",
                                format_count(kMostKinds)));
  write_notes(html, notes);
}

}  // namespace

std::optional<std::int64_t> write_overview(HtmlWriter& html, const PageSource& source,
                                           const std::vector<RankRoles>& roles) {
  const BottleneckAnswer answer = bottleneck_report(source.run);
  write_verdict(html, source, answer.verdict);
  write_chips(html, source.run, roles);
  write_others(html, source.run);
  const StepGrid grid =
      make_step_grid(roles, source.side.empty() ? kMostGridCells : kMostSideCells);
  if (!grid.cells.empty()) write_step_grid(html, source, grid);
  write_tables(html, source, answer.report, {.command = "bottleneck", .caption = "Roles"});
  return answer.verdict.rank;
}

namespace {

// Where the time goes: roles by rank and by step, and the wait for data.

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
  Report report = steps_report(source.run, {.most_rows = kMostKinds});
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

namespace {

// Communication: transfers and waiting by rank, who waits for whom, collectives by kind.

std::int64_t number_in(const std::vector<Cell>& row, std::size_t column) {
  const auto* const number = std::get_if<std::int64_t>(&row[column]);
  return number == nullptr ? 0 : *number;
}

// The rows "(all)" of the table of times: of each rank, what moves data and what waits.
void write_transfers(HtmlWriter& html, const PageSource& source, const Report& report) {
  const auto found = std::find_if(report.tables.begin(), report.tables.end(),
                                  [](const ReportTable& part) { return part.key == "times"; });
  if (found == report.tables.end()) return;
  const Table& table = found->table;
  const auto rank = table.find_column("rank");
  const auto busy = table.find_column("busy_ns");
  const auto transfer = table.find_column("transfer_ns");
  const auto waiting = table.find_column("waiting_ns");
  const auto collective = table.find_column("collective");
  if (!rank || !busy || !transfer || !waiting || !collective) return;
  std::vector<const std::vector<Cell>*> rows;
  std::int64_t room_ns = 1;
  for (const std::vector<Cell>& row : table.rows()) {
    const auto* const name = std::get_if<std::string>(&row[*collective]);
    if (name == nullptr || *name != "(all)") continue;
    rows.push_back(&row);
    room_ns = std::max(room_ns, number_in(row, *busy));
  }
  if (rows.empty()) return;
  const std::size_t most = source.room(kMostBars);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return rows.size() > most && number_in(*a, *busy) > number_in(*b, *busy);
  });
  rows.resize(std::min(rows.size(), most));
  std::vector<Bar> bars;
  bars.reserve(rows.size());
  for (const auto* const row : rows)
    bars.push_back({fmt::format("rank {}", number_in(*row, *rank)),
                    format_duration(number_in(*row, *busy)),
                    {time_part("transfer", "transfer", number_in(*row, *transfer), room_ns),
                     time_part("waiting", "waiting", number_in(*row, *waiting), room_ns)}});
  html.element("h3", "Moving data and waiting, by rank");
  write_command(html, source, "comm --table times");
  write_legend(html, {"transfer", "waiting"});
  write_stacked_bars(html, "Time in collectives of each rank", bars);
}

}  // namespace

void write_comm_section(HtmlWriter& html, const PageSource& source) {
  const Report stragglers = stragglers_report(source.run);
  for (const std::string& line : stragglers.headline) html.element("p", line);
  const Report comm = comm_report(source.run, {});
  write_transfers(html, source, comm);
  const std::vector<RankRoles> roles = find_main_roles(source.run);
  write_wait_matrix(html, source, find_waits(source.run, roles));
  write_tables(html, source, stragglers,
               {.command = "stragglers", .caption = "Who comes late, by rank"});
  write_tables(html, source, comm, {.command = "comm", .caption = "Collectives by kind"});
}

}  // namespace traceloom
