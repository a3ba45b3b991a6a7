#include "page/page.h"

#include "page/frame.h"
#include "page/page_side.h"
#include "page/sections.h"

namespace traceloom {
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
  request.python = true;
}

std::string write_page(const Run& run, const PageOptions& options) {
  std::string page;
  HtmlWriter html(page);
  const PageSide side = make_page_side(
      run, {.side = {}, .name = {}, .arguments = options.arguments, .tree = options.tree});
  begin_page(html, title_of(run), contents_list());
  for (const PageSectionName& section : kPageSections) {
    open_section(html, section.id, section.title);
    if (section.id == "definitions")
      write_definitions(html);
    else
      html.raw(side.sections.at(section.id));
    html.close();
  }
  const PageSource source{run, options.arguments};
  end_page(html, source.command("report"), short_names(source));
  return page;
}

}  // namespace traceloom
