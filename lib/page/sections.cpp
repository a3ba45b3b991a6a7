#include "page/sections.h"

#include "analysis/reports/tree_report.h"

#include <fmt/format.h>

#include <algorithm>

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

void open_section(HtmlWriter& html, std::string_view id, std::string_view title) {
  const std::string heading = std::string(id) + "-title";
  html.line();
  html.open("section", {{"id", id}, {"aria-labelledby", heading}});
  html.element("h2", title, {{"id", heading}});
  html.line();
}

void write_tables(HtmlWriter& html, const PageSource& source, const Report& report,
                  const TablesLook& look) {
  for (const ReportTable& part : report.tables) {
    const std::string name = report.command + '.' + part.key;
    write_table(html, part.table,
                {.caption = part.title.empty() ? look.caption : part.title,
                 .command = source.command(look.command),
                 .source = name,
                 .most_rows = source.room(look.rows)});
    if (source.written != nullptr) source.written->emplace(name, part.table);
  }
  write_notes(html, report.notes);
}

void write_notes(HtmlWriter& html, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  html.open("ul", {{"class", "notes"}});
  for (const std::string& note : notes) html.element("li", note);
  html.close();
  html.line();
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
  html.close();
  html.line();
}

namespace {

TreeReportOptions options_for(double share) {
  TreeReportOptions options;
  options.min_share = share;
  options.tree.by_rank = false;
  options.tree.by_thread = false;
  return options;
}

PageTree tree_of(const Run& run, const TreeReportOptions& options, std::string command) {
  Report report = tree_report(run, options);
  return {std::move(report.tables.front().table), std::move(command), std::move(report.notes)};
}

}  // namespace

void prepare_for_page_tree(RunRequest& request) {
  request.details = true;
  request.frames = true;
  request.samples = false;
  request.python = false;
  request.most_kinds = kMostKinds;
}

PageTree make_page_tree(const Run& run, std::size_t most_nodes) {
  for (const double share : {0.002, 0.005, 0.01, 0.02, 0.05}) {
    PageTree tree = tree_of(run, options_for(share),
                            fmt::format("tree --by all --min-share {:g}%", 100 * share));
    if (tree.table.rows().size() <= most_nodes) return tree;
  }
  // A stack of thousands of calls, each with all the time.
  TreeReportOptions options = options_for(0.1);
  options.depth = most_nodes / 10;
  PageTree tree =
      tree_of(run, options, fmt::format("tree --by all --min-share 10% --depth {}", options.depth));
  tree.table.cut_to(most_nodes);
  return tree;
}

}  // namespace traceloom
