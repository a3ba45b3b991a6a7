#include "page/comparison_page.h"

#include "page/sections.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace traceloom {
namespace {

std::string_view look_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::ok:
    case ChangeKind::improvement:
      return "verdict good";
    case ChangeKind::regression:
      return "verdict bad";
    case ChangeKind::inconclusive:
    case ChangeKind::incomparable:
      break;
  }
  return "verdict inconclusive";
}

void write_verdict_of(HtmlWriter& html, const ComparisonPage& page) {
  const ChangeKind kind = page.found.kind;
  html.open("div", {{"class", look_of(kind)}, {"id", "verdict"}, {"data-kind", to_string(kind)}});
  const std::vector<std::string>& lines = page.report.headline;
  html.element("p", lines.front(), {{"class", "lead"}});
  for (std::size_t i = 1; i < lines.size(); ++i) html.element("p", lines[i]);
  write_command(html, page.source, "compare");
  html.close_line();
  write_notes(html, page.report.notes);
}

constexpr PageDefinition kCompareDefinitions[] = {
    {"REGRESSION, IMPROVEMENT",
     "The step changed by at least the floor, and chance makes that in less than one of 100 "
     "cases, judged by how captures of a side, or runs of a store, differ among themselves."},
    {"OK", "The change is surely below the limit."},
    {"INCONCLUSIVE", "These captures show neither. The first line says what would."},
    {"INCOMPARABLE",
     "The sides differ in ranks, world size, devices or shapes, so that times say nothing."},
    {"Delta",
     "The time of the new side less that of the base, in a mean step of one rank: the rank whose "
     "own work "
     "changed most in the direction of the step. Rows, roles and ranks add up to its delta "
     "exactly."},
    {"Base, new",
     "The deltas of `compare` are means over all captures of a side. The sections of a side, and "
     "the "
     "deltas made of them, are of one capture: the one whose step is the median of its side."},
    {"Noise", "The standard deviation between captures of one side, or between runs."},
};

void write_side(HtmlWriter& html, const PageSide& side, std::string_view section) {
  html.open("div", {{"class", "side"}, {"data-side", side.side}});
  html.element("h3", fmt::format("{}: {}", side.side == "base" ? "Base" : "New", side.name),
               {{"class", "side-name"}});
  if (const auto found = side.sections.find(section); found != side.sections.end())
    html.raw(found->second);
  else
    html.element("p", side.why);
  html.close_line();
}

// Timelines and flame graphs need the width of the page.
void write_sides(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  const bool is_wide = section == "timeline" || section == "code";
  html.open("div", {{"class", is_wide ? "sides wide" : "sides"}});
  write_side(html, page.base, section);
  write_side(html, page.changed, section);
  html.close_line();
}

}  // namespace

std::string write_comparison_page(const ComparisonPage& page) {
  return framed_page("Traceloom: " + page_name(page.source.arguments), "Is the new version slower?",
                     {page.source, page.base, page.changed},
                     [&](HtmlWriter& html, std::string_view section) {
                       if (section == "overview") write_verdict_of(html, page);
                       write_deltas(html, page, section);
                       if (section != "definitions") return write_sides(html, page, section);
                       write_definition_list(html, kCompareDefinitions);
                       write_definitions(html);
                     });
}

}  // namespace traceloom
