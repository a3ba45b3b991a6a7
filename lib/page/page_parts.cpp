#include "page/page_parts.h"

#include "page/html/html_table.h"

#include <algorithm>

namespace traceloom {

std::string PageSource::command(std::string_view words, std::string_view tool) const {
  std::string text(tool);
  for (const std::string_view part :
       {words, are_arguments_long() ? kShortArguments : std::string_view(arguments)})
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
  for (const ReportTable& part : report.tables)
    write_table(html, part.table,
                {.caption = part.title.empty() ? look.caption : part.title,
                 .command = source.command(look.command),
                 .source = report.command + '.' + part.key,
                 .most_rows = look.rows});
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
  open_section(html, "definitions", "Definitions");
  html.open("dl");
  for (const PageDefinition& definition : definitions) {
    html.element("dt", definition.term);
    html.element("dd", definition.text);
  }
  html.close();
  html.close();
}

void write_command(HtmlWriter& html, const PageSource& source, std::string_view words) {
  html.open("p", {{"class", "command"}});
  html.element("code", source.command(words));
  html.close();
  html.line();
}

}  // namespace traceloom
