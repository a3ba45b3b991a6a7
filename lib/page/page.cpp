#include "page/page.h"

#include "analysis/waits/rank_waits.h"
#include "page/assets.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace traceloom {
namespace {

std::string hash_of(const PageAsset& asset) {
  return "'sha256-" + base64(bytes_of_hex(asset.sha256)) + "'";
}

// Nothing is fetched, sent, framed or run but the style and the script of this page.
std::string policy() {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
      hash_of(kPageScript), hash_of(kPageStyle));
}

void write_asset(HtmlWriter& html, std::string_view element, const PageAsset& asset) {
  html.raw(fmt::format("<{}>", element));
  html.raw(asset.text);
  html.raw(fmt::format("</{}>\n", element));
}

struct PageSection {
  std::string_view id;
  std::string_view name;   // in the contents list
  std::string_view title;  // nothing for the overview, which asks what the page is about
  void (*write)(HtmlWriter& html, const PageRun& page);  // nullptr for the definitions
};

// All sections of a page, in their order.
constexpr PageSection kPageSections[] = {
    {"overview", "Overview", "", write_overview},
    {"time", "Time", "Where the time goes", write_time_section},
    {"comm", "Communication", "Communication", write_comm_section},
    {"job", "Whole job", "The whole job", write_job_section},
    {"devices", "Devices", "Devices", write_device_section},
    {"work", "Kernels, operators", "Kernels and operators", write_work_section},
    {"code", "Calls", "Calls", write_code_section},
    {"timeline", "Timeline", "Timeline", write_timeline_section},
    {"memory", "Memory, host", "Memory and host", write_memory_section},
    {"files", "Clocks, repairs", "Clocks and repairs", write_files_section},
    {"definitions", "Definitions", "Definitions", nullptr},
};

void begin_page(HtmlWriter& html, std::string_view title) {
  html.raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
  html.single("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  html.raw("\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
  html.raw("<meta name=referrer content=no-referrer>\n");
  html.element("title", title);
  html.line();
  write_asset(html, "style", kPageStyle);
  html.raw("</head>\n<body>\n<header>");
  html.element("h1", title);
  html.raw("</header>\n<nav aria-label=Contents><ol>");
  for (const PageSection& section : kPageSections) {
    html.open("li");
    html.element("a", section.name, {{"href", fmt::format("#{}", section.id)}});
    html.close();
  }
  html.raw("</ol></nav>\n<main>\n");
}

void end_page(HtmlWriter& html, const std::vector<PageSource>& sources) {
  html.raw("</main>\n<footer>");
  html.text("Written by trace-stats " TRACELOOM_VERSION ": ");
  html.element("code", sources.front().command("report"));
  for (const PageSource& source : sources) {
    if (!source.are_arguments_long()) continue;
    html.raw("<details>");
    html.element("summary", fmt::format("What {} stands for", source.short_arguments()));
    html.element("code", source.arguments);
    html.raw("</details>");
  }
  html.raw("</footer>\n");
  write_asset(html, "script", kPageScript);
  html.raw("</body>\n</html>\n");
}

// The frame of a page: its policy, style, contents list, the heads of all sections, and scripts.
// `overview` is the title of the first section. The first of `sources` is that of the page; the
// foot says what the short names of all of them stand for.
std::string framed_page(
    const std::string& title, std::string_view overview, const std::vector<PageSource>& sources,
    const std::function<void(HtmlWriter& html, std::string_view section)>& write_section) {
  std::string text;
  HtmlWriter html(text);
  begin_page(html, title);
  for (const PageSection& section : kPageSections) {
    const std::string heading = fmt::format("{}-title", section.id);
    html.line();
    html.open("section", {{"id", section.id}, {"aria-labelledby", heading}});
    html.element("h2", section.title.empty() ? overview : section.title, {{"id", heading}});
    html.line();
    write_section(html, section.id);
    html.close();
  }
  end_page(html, sources);
  return text;
}

}  // namespace

PageSide make_page_side(const Run& run, PageSide side, const PageTree& tree,
                        const MemoryFiles& memory) {
  std::vector<RankRoles> roles = find_all_roles(run);
  std::vector<RankRoles> main = roles;
  keep_phase(main, main_phase(main));
  // The tables of one run need no copy.
  PageRun page{side,
               run,
               tree,
               memory,
               std::move(roles),
               match_collectives(run),
               find_waits(run, main),
               {},
               bottleneck_report(run),
               side.side.empty() ? nullptr : &side.tables};
  PageNames names;
  page.names = &names;
  page.grid =
      make_step_grid(page.roles, page.waits, page.side.empty() ? kMostGridCells : kMostSideCells);
  for (const PageSection& section : kPageSections) {
    if (section.write == nullptr) continue;
    HtmlWriter html(side.sections[section.id]);
    section.write(html, page);
  }
  side.roles = std::move(page.roles);
  side.shown_steps = std::move(page.grid.keys);
  for (RankRoles& rank : side.roles) rank.sets = {};
  return side;
}

namespace {

std::string title_of(const Run& run) {
  if (run.files.empty()) return "Traceloom: no traces";
  const std::string& path = run.files.front().path;
  return run.files.size() == 1 ? "Traceloom: " + page_name(path)
                               : "Traceloom: " + page_name(path) + " and " +
                                     std::to_string(run.files.size() - 1) + " more";
}

}  // namespace

void prepare_for_page(RunRequest& request) {
  request.details = true;
  request.samples = true;
  request.frames = true;
  request.python = true;
  request.most_kinds = kMostKinds;
}

std::string write_page(const Run& run, const PageOptions& options) {
  const PageSide side = make_page_side(run, {{options.arguments}}, options.tree, options.memory);
  return framed_page(title_of(run), "What limits this run", {side},
                     [&](HtmlWriter& html, std::string_view section) {
                       if (const auto text = side.sections.find(section);
                           text != side.sections.end())
                         html.raw(text->second);
                       else
                         write_definitions(html);
                     });
}

namespace {

std::string_view look_of(ChangeKind kind) {
  if (kind == ChangeKind::regression) return "verdict bad";
  const bool is_good = kind == ChangeKind::ok || kind == ChangeKind::improvement;
  return is_good ? "verdict good" : "verdict inconclusive";
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
     "The step changed by at least the floor, and chance makes that in less than one of 100 cases, "
     "judged by how captures of a side, or runs of a store, differ among themselves."},
    {"OK", "The change is surely below the limit."},
    {"INCONCLUSIVE", "These captures show neither. The first line says what would."},
    {"INCOMPARABLE",
     "The sides differ in ranks, world size, devices or shapes, so that times say nothing."},
    {"Delta",
     "The time of the new side less that of the base, in a mean step of one rank: the rank whose "
     "own work changed most in the direction of the step. Rows, roles and ranks add up to its "
     "delta exactly."},
    {"Base, new",
     "The deltas of `compare` are means over all captures of a side. The sections of a side, and "
     "the deltas made of them, are of one capture: the one whose step is the median of its side."},
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
