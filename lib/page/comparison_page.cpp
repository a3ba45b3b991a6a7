#include "page/comparison_page.h"

#include "page/deltas.h"
#include "page/sections.h"

#include <fmt/format.h>

#include <array>

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

namespace {

// A table that both sides have, and what of it is compared.
struct JoinedTable {
  std::string_view section;
  std::string_view source;  // "comm.rows"
  std::string_view caption;
  DeltaColumns columns;
};

const std::array<JoinedTable, 8>& joined_tables() {
  static const std::array<JoinedTable, 8> tables{{
      {"time",
       "steps.summary",
       "Steps of each rank",
       {{"rank", "kind", "statistic"}, {"total_ns"}}},
      {"comm",
       "comm.rows",
       "Collectives by kind",
       {{"collective", "dtype", "bytes", "group_description"},
        {"latency_ns", "wait_ns", "bus_gbps", "count"}}},
      {"comm",
       "stragglers.rows",
       "Who comes late, by rank",
       {{"rank"}, {"delay_ns_per_step", "wait_ns_per_step"}}},
      {"devices",
       "gpu.rows",
       "What each device does",
       {{"rank", "device"}, {"compute_share", "idle_share", "overlap_share", "utilization"}}},
      {"devices", "gpu.types", "Device time by type of work", {{"type"}, {"share"}}},
      {"memory",
       "memory.rows",
       "Memory by device",
       {{"rank", "device"}, {"peak_bytes", "reserved_peak_bytes"}}},
      {"memory",
       "memory.host",
       "Counters of memory",
       {{"rank", "counter", "process", "unit"}, {"most", "end"}}},
      {"memory",
       "host.rows",
       "Counters of the machine",
       {{"counter", "process", "unit", "kind"}, {"mean", "most"}}},
  }};
  return tables;
}

// Writes the tables of the section that both sides have.
void write_joined(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  for (const JoinedTable& joined : joined_tables()) {
    if (joined.section != section) continue;
    const auto base = page.base.tables.find(std::string(joined.source));
    const auto changed = page.changed.tables.find(std::string(joined.source));
    if (base == page.base.tables.end() || changed == page.changed.tables.end()) continue;
    Table table = delta_table(base->second, changed->second, joined.columns);
    put_largest_first(table, kMostTableRows);
    const std::string command(joined.source.substr(0, joined.source.find('.')));
    write_table(html, table,
                {.caption = std::string(joined.caption) + ": base, new and delta",
                 .command = source_of(page.base).command(command) + "; " +
                            source_of(page.changed).command(command),
                 .source = std::string(joined.source),
                 .most_rows = kMostTableRows});
  }
}

}  // namespace

void write_deltas(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  if (section == "overview") {
    write_delta_map(html, page);
  } else if (section == "time") {
    write_rank_bars(html, page);
    write_rank_roles(html, page);
    write_compared(html, page, "ranks", "How much the mean step changed, by rank");
    if (page.found.shown)
      write_compared(
          html, page, "roles",
          fmt::format("Rank {}'s mean step by role", page.found.ranks[*page.found.shown].rank));
  } else if (section == "comm") {
    write_rows_of(html, page, RowsOf::communication);
  } else if (section == "work") {
    write_compared(html, page, "rows", "");
    write_compared(html, page, "structure", "");
    write_rows_of(html, page, RowsOf::devices);
    write_operators(html, page);
  }
  write_joined(html, page, section);
}

}  // namespace traceloom
