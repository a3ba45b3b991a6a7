#include "page/comparison_page.h"

#include "base/units.h"
#include "page/frame.h"
#include "page/html/figures.h"
#include "page/html/html_writer.h"
#include "page/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace traceloom {
namespace {

std::string_view look_of(CompareKind kind) {
  switch (kind) {
    case CompareKind::ok:
    case CompareKind::improvement:
      return "verdict good";
    case CompareKind::regression:
      return "verdict bad";
    case CompareKind::inconclusive:
    case CompareKind::incomparable:
      break;
  }
  return "verdict inconclusive";
}

void write_verdict_of(HtmlWriter& html, const PageSource& source, const Report& report,
                      const Comparison& found) {
  html.open(
      "div",
      {{"class", look_of(found.kind)}, {"id", "verdict"}, {"data-kind", to_string(found.kind)}});
  for (std::size_t i = 0; i < report.headline.size(); ++i)
    if (i == 0)
      html.element("p", report.headline[i], {{"class", "lead"}});
    else
      html.element("p", report.headline[i]);
  write_command(html, source, "compare");
  html.close();
  html.line();
}

// The step of one side, split into roles.
Bar bar_of(const std::vector<RoleDelta>& roles, std::string label, std::int64_t room_ns,
           std::int64_t RoleDelta::*side) {
  Bar bar{std::move(label), {}, {}};
  std::int64_t total_ns = 0;
  for (const RoleDelta& role : roles) {
    const std::int64_t ns = role.*side;
    total_ns += ns;
    bar.parts.push_back(time_part(role_name(role.role), role_name(role.role), ns, room_ns));
  }
  bar.total = format_duration(total_ns);
  return bar;
}

void write_roles(HtmlWriter& html, const Comparison& found) {
  if (found.roles.empty() || !found.shown) return;
  std::int64_t base_ns = 0;
  std::int64_t changed_ns = 0;
  std::vector<std::string_view> names;
  for (const RoleDelta& role : found.roles) {
    base_ns += role.base_ns;
    changed_ns += role.changed_ns;
    if (role.base_ns > 0 || role.changed_ns > 0) names.push_back(role_name(role.role));
  }
  const std::int64_t room_ns = std::max({base_ns, changed_ns, std::int64_t{1}});
  html.element("h3",
               fmt::format("Rank {}'s mean step on both sides", found.ranks[*found.shown].rank));
  write_legend(html, names);
  write_stacked_bars(html, "The mean step of the base and of the new version",
                     {bar_of(found.roles, "base", room_ns, &RoleDelta::base_ns),
                      bar_of(found.roles, "new", room_ns, &RoleDelta::changed_ns)});
}

constexpr PageDefinition kCompareDefinitions[] = {
    {"REGRESSION, IMPROVEMENT",
     "The step changed by at least the floor, and chance makes that in less than one of 100 "
     "cases, judged by how the captures of a side differ among themselves."},
    {"OK", "The change is surely below the limit."},
    {"INCONCLUSIVE", "These captures show neither. The page says how many would."},
    {"INCOMPARABLE",
     "The sides differ in ranks, world size, devices or shapes, so that times say nothing."},
    {"Delta",
     "The time of the new side less that of the base, in a mean step of one rank: the rank whose "
     "own work "
     "changed most in the direction of the step. Rows, roles and ranks add up to its delta "
     "exactly."},
    {"Noise", "The standard deviation between captures of one side."},
};

}  // namespace

std::string write_comparison_page(const Report& report, const Comparison& found,
                                  std::string_view arguments) {
  std::string page;
  HtmlWriter html(page);
  const Run none;
  const PageSource source{none, std::string(arguments)};
  begin_page(html, "Traceloom: " + page_name(arguments),
             {{"overview", "Verdict"}, {"where", "Where it went"}, {"definitions", "Definitions"}});
  open_section(html, "overview", "Is the new version slower?");
  write_verdict_of(html, source, report, found);
  write_roles(html, found);
  html.close();
  open_section(html, "where", "Where it went");
  write_tables(html, source, report, {.command = "compare", .caption = "Rows"});
  html.close();
  write_definition_list(html, kCompareDefinitions);
  end_page(html, source.command("compare"),
           source.are_arguments_long() ? source.arguments : std::string());
  return page;
}

}  // namespace traceloom
