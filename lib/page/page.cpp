#include "page/page.h"

#include "analysis/waits/rank_waits.h"
#include "page/assets.h"

#include <fmt/format.h>

#include <functional>

namespace traceloom {
namespace {

std::string hash_of(const PageAsset& asset) {
  return "'sha256-" + base64(bytes_of_hex(asset.sha256)) + "'";
}

// Nothing is fetched, sent, framed or run but the style and the two scripts of this page.
std::string policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
      hash_of(kPageScript), hash_of(kTimelineScript), hash_of(kPageStyle));
}

void write_asset(HtmlWriter& html, std::string_view element, const PageAsset& asset) {
  html.raw(fmt::format("<{}>", element));
  html.raw(asset.text);
  html.raw(fmt::format("</{}>\n", element));
}

}  // namespace

void begin_page(HtmlWriter& html, std::string_view title,
                const std::vector<std::pair<std::string_view, std::string_view>>& sections) {
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
  for (const auto& [id, name] : sections) {
    html.open("li");
    html.element("a", name, {{"href", fmt::format("#{}", id)}});
    html.close();
  }
  html.raw("</ol></nav>\n<main>\n");
}

void end_page(HtmlWriter& html, std::string_view command,
              const std::vector<std::pair<std::string_view, std::string_view>>& short_names) {
  html.raw("</main>\n<footer>");
  html.text("Written by trace-stats " TRACELOOM_VERSION ": ");
  html.element("code", command);
  for (const auto& [name, arguments] : short_names) {
    html.raw("<details>");
    html.element("summary", fmt::format("What {} stands for", name));
    html.element("code", arguments);
    html.raw("</details>");
  }
  html.raw("</footer>\n");
  write_asset(html, "script", kPageScript);
  write_asset(html, "script", kTimelineScript);
  html.raw("</body>\n</html>\n");
}

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
  request.most_kinds = kMostKinds;
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
