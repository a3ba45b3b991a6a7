#include "page/page_side.h"

#include "analysis/waits/rank_waits.h"
#include "page/sections.h"

#include <functional>
#include <utility>

namespace traceloom {
namespace {

std::string written(const std::function<void(HtmlWriter&)>& write) {
  std::string text;
  HtmlWriter html(text);
  write(html);
  return text;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> contents_list() {
  std::vector<std::pair<std::string_view, std::string_view>> list;
  for (const PageSectionName& section : kPageSections) list.emplace_back(section.id, section.name);
  return list;
}

PageSide make_page_side(const Run& run, const PageSideOptions& options) {
  PageSide made{.side = options.side,
                .name = options.name,
                .arguments = options.arguments,
                .why = {},
                .sections = {},
                .roles = {},
                .tables = {}};
  // The tables of one run need no copy.
  const PageSource source{run, options.arguments, options.side,
                          options.side.empty() ? nullptr : &made.tables};
  PageFacts facts{find_all_roles(run), {}};
  const auto add = [&](std::string_view id, const std::function<void(HtmlWriter&)>& write) {
    made.sections.emplace(id, written(write));
  };
  add("overview",
      [&](HtmlWriter& html) { facts.verdict_rank = write_overview(html, source, facts.roles); });
  add("time", [&](HtmlWriter& html) { write_time_section(html, source, facts); });
  add("comm", [&](HtmlWriter& html) { write_comm_section(html, source); });
  add("devices", [&](HtmlWriter& html) { write_device_section(html, source); });
  add("work", [&](HtmlWriter& html) { write_work_section(html, source); });
  add("code", [&](HtmlWriter& html) {
    write_code_section(html, source, options.tree ? &*options.tree : nullptr);
  });
  add("timeline", [&](HtmlWriter& html) { write_timeline_section(html, source, facts); });
  add("memory", [&](HtmlWriter& html) { write_memory_section(html, source); });
  add("files", [&](HtmlWriter& html) { write_files_section(html, source); });
  made.roles = std::move(facts.roles);
  for (RankRoles& rank : made.roles) rank.sets = {};
  return made;
}

PageSource source_of(const PageSide& side) {
  return source_without_run(side.arguments, side.side);
}

PageSource source_without_run(const std::string& arguments, const std::string& side) {
  static const Run none;
  return {none, arguments, side};
}

std::vector<std::pair<std::string_view, std::string_view>> short_names(const PageSource& source) {
  if (!source.are_arguments_long()) return {};
  return {{source.short_arguments(), source.arguments}};
}

}  // namespace traceloom
