#include "analysis/numbers/percentile.h"
#include "analysis/reports/bottleneck_report.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/waits/step_lengths.h"
#include "analysis/waits/step_phases.h"
#include "base/units.h"
#include "clock/alignment_words.h"
#include "page/sections.h"
#include "page/step_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

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

}  // namespace

std::optional<std::int64_t> write_overview(HtmlWriter& html, const PageSource& source,
                                           const std::vector<RankRoles>& roles) {
  const BottleneckAnswer answer = bottleneck_report(source.run);
  write_verdict(html, source, answer.verdict);
  write_chips(html, source.run, roles);
  const StepGrid grid =
      make_step_grid(roles, source.side.empty() ? kMostGridCells : kMostSideCells);
  if (!grid.cells.empty()) write_step_grid(html, source, grid);
  write_tables(html, source, answer.report, {.command = "bottleneck", .caption = "Roles"});
  return answer.verdict.rank;
}

}  // namespace traceloom
