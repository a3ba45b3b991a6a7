#include "page/comparison_page.h"

#include "page/delta_sections.h"
#include "page/frame.h"
#include "page/html/html_writer.h"
#include "page/page_parts.h"
#include "page/sections.h"

#include <fmt/format.h>

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
    {"Base, new",
     "The deltas of `compare` are means over all captures of a side. The sections of a side, and "
     "the "
     "deltas made of them, are of one capture: the one whose step is the median of its side."},
    {"Noise", "The standard deviation between captures of one side."},
};

std::string_view title_of(const PageSectionName& section) {
  return section.id == "overview" ? "Is the new version slower?" : section.title;
}

void write_side(HtmlWriter& html, const PageSide& side, std::string_view section) {
  html.open("div", {{"class", "side"}, {"data-side", side.side}});
  html.element("h3", fmt::format("{}: {}", side.side == "base" ? "Base" : "New", side.name),
               {{"class", "side-name"}});
  if (const auto found = side.sections.find(section); found != side.sections.end())
    html.raw(found->second);
  else
    html.element("p", side.why);
  html.close();
  html.line();
}

// Timelines and flame graphs need the width of the page.
void write_sides(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  const bool is_wide = section == "timeline" || section == "code";
  html.open("div", {{"class", is_wide ? "sides wide" : "sides"}});
  write_side(html, page.base, section);
  write_side(html, page.changed, section);
  html.close();
  html.line();
}

}  // namespace

std::string write_comparison_page(const ComparisonPage& page) {
  std::string text;
  HtmlWriter html(text);
  const PageSource source = source_without_run(page.arguments);
  begin_page(html, "Traceloom: " + page_name(page.arguments), contents_list());
  for (const PageSectionName& section : kPageSections) {
    open_section(html, section.id, title_of(section));
    if (section.id == "overview") {
      write_verdict_of(html, source, page.report, page.found);
      write_notes(html, page.report.notes);
    }
    write_deltas(html, page, section.id);
    if (section.id != "definitions") {
      write_sides(html, page, section.id);
    } else {
      write_definition_list(html, kCompareDefinitions);
      write_definitions(html);
    }
    html.close();
  }
  auto names = short_names(source);
  const PageSource base = source_of(page.base);
  const PageSource changed = source_of(page.changed);
  for (const PageSource* const side : {&base, &changed})
    for (const auto& name : short_names(*side)) names.push_back(name);
  end_page(html, source.command("report"), names);
  return text;
}

}  // namespace traceloom
