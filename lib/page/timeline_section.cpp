// The timeline, as data for the page's script.
#include "analysis/numbers.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "page/html/figures.h"
#include "page/html/html_writer.h"
#include "page/page.h"
#include "page/sections.h"
#include "page/step_grid.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <ranges>
#include <vector>

namespace traceloom {
namespace {

std::string kept_text(const Timeline& timeline) {
  std::uint64_t kept = 0;
  std::uint64_t all = 0;
  std::uint64_t deeper = 0;
  for (const TimelineRow& row : timeline.rows) {
    kept += row.slices;
    all += row.all_slices;
    deeper += row.deeper;
  }
  std::string text = kept == all
                         ? fmt::format("All {} spans of these rows", format_count(all))
                         : fmt::format("{} of {} spans of these rows; the others are shades",
                                       format_count(kept), format_count(all));
  if (deeper > 0)
    text += fmt::format("; {} lie deeper in others and are not shown", format_count(deeper));
  return text + '.';
}

void write_rows(JsonWriter& json, const Timeline& timeline) {
  write_objects(json, "rows", timeline.rows, [&](const TimelineRow& row) {
    write_members(json, "rank", row.rank, "label", row.label, "slices", row.slices, "bins",
                  row.bins, "depths", row.lines);
    if (row.is_thin) json.member("thin", true);
    if (row.is_last) json.member("last", true);
    if (row.is_copy) json.member("copy", true);
  });
}

void write_times(JsonWriter& json, const Timeline& timeline) {
  write_objects(json, "windows", timeline.windows, [&](const TimelineWindow& window) {
    write_members(json, "start", window.time.from_ns, "end", window.time.to_ns);
  });
  json.begin_array("steps");
  for (const TimelineStep& step : timeline.steps)
    write_values(json, step.label, step.time.from_ns, step.time.to_ns, step.spans);
  json.end_array();
}

// Of each rank in full: why it is, and its steps: label, begin, end, and the time of each role.
void write_ranks(JsonWriter& json, const Timeline& timeline) {
  write_objects(json, "ranks", timeline.ranks, [&](const FullRank& rank) {
    write_members(json, "rank", rank.rank, "why", rank.why, "gaps", rank.gaps);
  });
  json.begin_array("sums");
  for (const StepTimesOfRank& step : timeline.sums) {
    json.begin_array();
    json.value(step.rank);
    json.value(step.label);
    json.value(step.time.from_ns);
    json.value(step.time.to_ns);
    for (const Role role : kRoles) json.value(step.roles[role]);
    json.end_array();
  }
  json.end_array();
}

// A name that the search has is its place there.
void write_names(JsonWriter& json, const Timeline& timeline, const PageNames& known) {
  json.begin_array("names");
  for (const std::string& name : timeline.names)
    if (const auto place = known.find(name); place != known.end())
      json.value(place->second);
    else
      json.value(name);
  json.end_array();
}

std::string facts_json_of(const Timeline& timeline, const PageNames& known) {
  return json_object([&](JsonWriter& json) {
    json.member("end", timeline.end_ns);
    json.member("kept", kept_text(timeline));
    json.member("all_steps", timeline.all_steps);
    write_list(json, "roles", kRoleNames);
    write_list(json, "causes", kAllOf<AccountRow> | std::views::transform(account_row_name));
    write_times(json, timeline);
    write_ranks(json, timeline);
    write_rows(json, timeline);
    write_names(json, timeline, known);
  });
}

void write_buttons(HtmlWriter& html, const Timeline& timeline) {
  html.open("div", {{"class", "tools"}});
  for (std::size_t i = 0; i < timeline.windows.size(); ++i)
    html.element("button", timeline.windows[i].name,
                 {{"type", "button"}, {"data-window", std::to_string(i)}});
  const std::pair<std::string_view, std::string_view> keys[] = {
      {"w", "Zoom in (W)"}, {"s", "Zoom out (S)"}, {"a", "Left (A)"}, {"d", "Right (D)"}};
  for (const auto& [key, words] : keys)
    html.element("button", words, {{"type", "button"}, {"data-key", key}});
  html.close();
}

constexpr std::string_view kViewer = "https://ui.perfetto.dev";
// From this size on the page says what the viewer holds.
constexpr std::uint64_t kLargeTrace = 1'000'000'000;
constexpr std::string_view kViewerStart = "<p id=\"viewer\">";
constexpr std::string_view kViewerEnd = "</p>";

// The page itself may fetch nothing, so a viewer needs a file, or a server that is asked for.
void write_viewer(HtmlWriter& html, const PageSource& source) {
  html.raw(kViewerStart);
  html.text("For every event: ");
  html.element("code", source.command("", "trace-merge") + " --serve");
  html.text(" shows the merged trace in ui.perfetto.dev, and ");
  html.element("code", source.command("report") + " --serve");
  html.text(" this page with a link to it.");
  html.raw(kViewerEnd);
  html.line();
}

// A page of two sides has two timelines.
TimelineLimits limits_of(const PageSource& source) {
  TimelineLimits limits;
  for (std::size_t* const most :
       {&limits.slices, &limits.gaps, &limits.slices_a_step, &limits.sums, &limits.thin_slices,
        &limits.bins, &limits.names_bytes, &limits.names_bytes_a_rank})
    *most = source.room(*most);
  return limits;
}

// The rank whose own time, a mean step without waiting, is nearest to the median of all ranks.
std::optional<std::int64_t> median_rank(const PageRun& page) {
  const RankWaits& waits = page.waits;
  std::vector<std::int64_t> own_ns;
  for (std::size_t i = 0; i < waits.ranks.size(); ++i) {
    StepSum sum;
    sum.add_counted(page.roles[waits.ranks[i]].steps);
    own_ns.push_back(sum.mean().total_ns - waits.mean_wait_ns(i));
  }
  std::optional<std::int64_t> nearest;
  std::int64_t least_ns = 0;
  const std::int64_t median_ns = own_ns.empty() ? 0 : percentile(own_ns, 50);
  for (std::size_t i = 0; i < own_ns.size(); ++i) {
    const std::int64_t rank = page.roles[waits.ranks[i]].rank;
    const std::int64_t off_ns = std::abs(own_ns[i] - median_ns);
    if (rank == page.bottleneck.verdict.named_rank || (nearest && off_ns >= least_ns)) continue;
    nearest = rank;
    least_ns = off_ns;
  }
  return nearest;
}

}  // namespace

PagePlaces places_of(const PageRun& page) {
  return {page.bottleneck.verdict.named_rank, median_rank(page), page.grid.keys, page.names};
}

void write_timeline_section(HtmlWriter& html, const PageRun& page) {
  const Timeline timeline =
      make_timeline(page.run, page.roles, page.collectives, limits_of(page), places_of(page));
  if (timeline.rows.empty()) {
    html.element("p", "No spans that analyses use are in these traces.");
    return;
  }
  html.open("div", {{"data-script", ""}, {"hidden", ""}});
  write_buttons(html, timeline);
  std::vector<std::string_view> colours(kRoleNames.begin(), kRoleNames.end());
  colours.push_back("waiting");
  write_legend(html, colours);
  write_canvas(html, {page.id("timeline-canvas"), page.id("timeline-status"), "timeline", page.side,
                      "Timeline of all ranks; W and S zoom, A and D move, 0 shows all. The numbers "
                      "are in the tables of the other sections."});
  html.close();
  html.element("p",
               "Point at a span or tap it for its name; drag to move; zoom with the wheel over the "
               "clicked timeline, or with two fingers.");
  if (page.side.empty()) write_viewer(html, page);
  html.data(page.id("timeline-facts"), "application/json", facts_json_of(timeline, *page.names));
  html.data(page.id("timeline-slices"), "text/plain", base64(timeline.slices));
  html.data(page.id("timeline-gaps"), "text/plain", base64(timeline.gaps));
  html.data(page.id("timeline-shades"), "text/plain", base64(timeline.shades));
}

// No text of a trace can look like the start, since '<' is escaped in all of them, and the policy
// stands before all of them.
std::string with_viewer_link(std::string page, const PageServing& serving) {
  const std::size_t start = page.find(kViewerStart);
  if (start == std::string::npos) return page;
  const std::size_t inner = start + kViewerStart.size();
  std::string words;
  HtmlWriter html(words);
  html.open("span", {{"data-script", ""}, {"hidden", ""}});
  html.element("button", "Open every event in ui.perfetto.dev",
               {{"type", "button"}, {"data-trace", serving.trace}, {"data-viewer", kViewer}});
  html.text(fmt::format(" at the time that is shown: this page hands it the merged trace ({}). Or ",
                        format_bytes(serving.bytes)));
  html.close();
  html.element("a", "let the viewer read it from here",
               {{"href", serving.address}, {"target", "_blank"}, {"rel", "noopener"}});
  html.text(
      ", for which Chrome asks for your permission since version 142, and which Safari refuses.");
  if (serving.bytes > kLargeTrace) {
    html.text(" The viewer holds some 2 GB of JSON: for a part, ");
    html.element("code", "trace-merge --time FROM:TO --serve");
    html.text(" with the times of this timeline.");
  }
  page.replace(inner, page.find(kViewerEnd, inner) - inner, words);
  constexpr std::string_view kNextRule = "; base-uri";
  return page.insert(page.find(kNextRule), "; connect-src 'self'");
}

}  // namespace traceloom
