#include "page/sections.h"

#include "analysis/reports/reports.h"
#include "base/units.h"

#include <fmt/format.h>

namespace traceloom {

std::string PageSource::id(std::string_view name) const {
  return side.empty() ? std::string(name) : side + '-' + std::string(name);
}

std::string_view PageSource::short_arguments() const {
  return side.empty() ? "$RUN" : side == "base" ? "$BASE" : "$NEW";
}

std::string PageSource::command(std::string_view words, std::string_view tool) const {
  std::string text(tool);
  for (const std::string_view part :
       {words, are_arguments_long() ? short_arguments() : std::string_view(arguments)})
    if (!part.empty()) (text += ' ') += part;
  return text;
}

void write_tables(HtmlWriter& html, const PageRun& page, const Report& report,
                  const std::string& caption, std::size_t most_rows) {
  for (const ReportTable& part : report.tables) {
    const std::string name = report.command + '.' + part.key;
    write_table(html, part.table,
                {.caption = part.title.empty() ? caption : part.title,
                 .command = page.command(report.command),
                 .source = name,
                 .most_rows = page.room(most_rows)});
    if (page.written != nullptr) page.written->emplace(name, part.table);
  }
  write_notes(html, report.notes);
}

void write_notes(HtmlWriter& html, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  html.open("ul", {{"class", "notes"}});
  for (const std::string& note : notes) html.element("li", note);
  html.close_line();
}

void write_definition_list(HtmlWriter& html, std::span<const PageDefinition> definitions) {
  html.open("dl");
  for (const PageDefinition& definition : definitions) {
    html.element("dt", definition.term);
    html.element("dd", definition.text);
  }
  html.close();
}

void write_command(HtmlWriter& html, const PageSource& source, std::string_view words) {
  html.open("p", {{"class", "command"}});
  html.element("code", source.command(words));
  html.close_line();
}

void write_canvas(HtmlWriter& html, const PageCanvas& canvas) {
  html.element("canvas", "",
               {{"id", canvas.id},
                {"class", canvas.look},
                {"data-side", canvas.side},
                {"tabindex", "0"},
                {"role", "img"},
                {"aria-label", canvas.words}});
  html.element("p", "", {{"id", canvas.status_id}, {"class", "status"}, {"role", "status"}});
}

void write_choice(HtmlWriter& html, std::string_view label, const std::string& id,
                  const std::vector<std::pair<std::string, std::string_view>>& choices) {
  html.open("div", {{"class", "tools"}});
  html.open("label");
  html.text(label);
  html.open("select", {{"id", id}});
  for (const auto& [value, name] : choices) html.element("option", name, {{"value", value}});
  html.close();
  html.close();
  html.close();
}

std::vector<std::string_view> role_names(const RoleTimes& times) {
  std::vector<std::string_view> names;
  for (const Role role : kRoles)
    if (times[role] > 0) names.push_back(role_name(role));
  return names;
}

Bar role_bar(std::string label, const RoleTimes& roles, std::int64_t total_ns,
             std::int64_t room_ns) {
  Bar bar{std::move(label), format_duration(total_ns), {}};
  for (const Role role : kRoles) {
    const std::int64_t ns = roles[role];
    if (ns <= 0) continue;
    bar.parts.push_back(time_part(role_name(role), role_name(role), ns, room_ns));
    bar.parts.back().words +=
        fmt::format(" ({:.1f} %)", 100 * static_cast<double>(ns) /
                                       static_cast<double>(std::max<std::int64_t>(total_ns, 1)));
  }
  return bar;
}

namespace {

TreeReportOptions options_for(double share) {
  TreeReportOptions options;
  options.min_share = share;
  options.tree.by_rank = false;
  options.tree.by_thread = false;
  options.tree.keeps_ranks = true;
  return options;
}

PageTree tree_of(const Run& run, const CallTree& tree, const TreeReportOptions& options,
                 std::string command) {
  Report report = tree_report(run, tree, options);
  return {std::move(report.tables.front().table), std::move(command), std::move(report.notes)};
}

}  // namespace

PageTree page_tree_of(const Run& run, const CallTree& calls, std::size_t most_nodes) {
  for (const double share : {0.002, 0.005, 0.01, 0.02, 0.05}) {
    PageTree tree = tree_of(run, calls, options_for(share),
                            fmt::format("tree --by all --min-share {:g}%", 100 * share));
    if (tree.table.rows().size() <= most_nodes) return tree;
  }
  // A stack of thousands of calls, each with all the time.
  TreeReportOptions options = options_for(0.1);
  options.depth = most_nodes / 10;
  PageTree tree = tree_of(run, calls, options,
                          fmt::format("tree --by all --min-share 10% --depth {}", options.depth));
  tree.table.cut_to(most_nodes);
  return tree;
}

PageTree take_page_tree(Run& run, std::size_t most_nodes) {
  const auto calls = std::make_shared<const CallTree>(run, options_for(0).tree);
  PageTree tree = page_tree_of(run, *calls, most_nodes);
  tree.calls = calls;
  for (RankEvents& rank : run.ranks) {
    for (EventColumns& part : rank.parts) part.all_frames = {};
    rank.kinds = find_kinds(rank.parts);
  }
  return tree;
}

}  // namespace traceloom
